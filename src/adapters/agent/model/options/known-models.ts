/** Which models there are, as far as has been found out: asked for behind the back of whoever opens a session. */
import type { Clock } from '../../../../ports/clock.ts'
import type { Models, ModelSource } from '../../../../ports/model.ts'

/** How long the servers of this machine are waited for. Milliseconds. */
const LOCAL_LIMIT = 200
/** And the lists of providers, which nobody waits for. */
const LIST_LIMIT = 5_000
/** What is known is asked anew when it is older. */
const STALE = 60_000

export class KnownModels {
  sources: readonly ModelSource[] = []
  /** Called when there is something else to choose from. */
  changed: () => void = () => {}
  readonly #models: Models
  readonly #clock: Clock
  #asking: Promise<void> | undefined
  #askedAt: number | undefined

  constructor(models: Models, clock: Clock) {
    this.#models = models
    this.#clock = clock
  }

  get preset(): string | undefined {
    return this.#models.preset
  }

  /** The same once this machine's own servers were asked, if nothing else is known. */
  async found(): Promise<string | undefined> {
    if (this.preset === undefined && this.#askedAt === undefined) await this.#ask(LOCAL_LIMIT)
    else if (this.preset === undefined) this.refresh()
    return this.preset
  }

  /** Asks again if what is known is old. Never waits. */
  refresh(): void {
    const isFresh = this.#askedAt !== undefined && this.#clock.monotonicNow() - this.#askedAt < STALE
    if (!isFresh) void this.#ask(LIST_LIMIT)
  }

  #ask(limitMs: number): Promise<void> {
    this.#asking ??= this.#askNow(limitMs).finally(() => (this.#asking = undefined))
    return this.#asking
  }

  async #askNow(limitMs: number): Promise<void> {
    const end = this.#clock.abortSource()
    const sources = await this.#models.discover(limitMs, end.signal)
    const isNews = JSON.stringify(sources) !== JSON.stringify(this.sources)
    this.sources = sources
    this.#askedAt = this.#clock.monotonicNow()
    if (isNews) this.changed()
  }
}
