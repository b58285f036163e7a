/** Notices when an agent has sent nothing for long in a turn. That alone is no failure: its model or a tool may be slow. */
import type { AgentSession } from '../../../../ports/agent.ts'
import type { Clock, Timer } from '../../../../ports/clock.ts'
import type { AgentProcess } from '../process/agent-process.ts'
import type { TurnUpdates } from '../updates/turn-updates.ts'

const POLL_MS = 1_000

export interface Quieted {
  readonly session: Pick<AgentSession, 'showActivity'>
  readonly process: AgentProcess
  readonly updates: TurnUpdates
  readonly clock: Clock
  /** Clients are notified after so much silence. */
  readonly quietMs: number
  /** After so much silence the prompt is given up; absent, never. */
  readonly stallMs?: number
  readonly stalled: (seconds: number) => void
}

export class QuietWatch {
  readonly #parts: Quieted
  #timer: Timer | undefined
  #heard = 0
  /** The silence began then: on the monotonic clock, and in milliseconds since 1970. */
  #since = { mono: 0, at: 0 }
  /** When clients were last notified that it lasts, and the processor time that had been used by then. */
  #noticed: { readonly mono: number; readonly cpuMs: number | undefined } | undefined
  #isOver = false

  constructor(parts: Quieted) {
    this.#parts = parts
    this.#spoke()
    this.#next()
  }

  /** On the monotonic clock; undefined while the agent is not quiet. */
  get quietSince(): number | undefined {
    return this.#noticed === undefined ? undefined : this.#since.mono
  }

  stop(): void {
    this.#isOver = true
    this.#timer?.cancel()
    this.#shown()
  }

  #next(): void {
    if (this.#isOver) return
    const { clock, quietMs, stallMs = POLL_MS } = this.#parts
    this.#timer = clock.setTimer(
      Math.min(POLL_MS, quietMs, stallMs),
      () => void this.#look().finally(() => this.#next()),
    )
  }

  async #look(): Promise<void> {
    const { process, updates, clock, quietMs, stallMs, stalled } = this.#parts
    // While a person is asked, the agent waits for Parley.
    const isAsking = process.peer.owed > 0 || updates.openQuestions > 0
    if (process.peer.heard !== this.#heard || isAsking) return this.#spoke()
    const silentMs = clock.monotonicNow() - this.#since.mono
    if (stallMs !== undefined && silentMs >= stallMs) return stalled(Math.round(silentMs / 1_000))
    if (clock.monotonicNow() - (this.#noticed?.mono ?? this.#since.mono) < quietMs) return
    const before = this.#noticed?.cpuMs
    const cpuMs = (await process.usage().catch(() => undefined))?.cpuMs
    if (this.#isOver || process.peer.heard !== this.#heard) return
    this.#noticed = { mono: clock.monotonicNow(), cpuMs }
    this.#tell(before === undefined || cpuMs === undefined ? undefined : cpuMs > before)
  }

  #tell(usesCpu: boolean | undefined): void {
    const { session, process, updates } = this.#parts
    session.showActivity({
      state: 'quiet',
      agent: process.launch.name,
      since: this.#since.at,
      calls: updates.openCalls,
      ...(usesCpu !== undefined && { usesCpu }),
    })
  }

  #spoke(): void {
    const { process, clock } = this.#parts
    this.#heard = process.peer.heard
    this.#since = { mono: clock.monotonicNow(), at: clock.now() }
    this.#shown()
  }

  #shown(): void {
    if (this.#noticed === undefined) return
    this.#noticed = undefined
    this.#parts.session.showActivity(undefined)
  }
}
