/** The time between the order to stop and the stop: turns that run may end by themselves until it is over. */
import type { Clock } from '../../ports/clock.ts'

/** Milliseconds between two looks at what still runs. */
const PAUSE = 50

export class Drain {
  readonly #clock: Clock
  readonly #working: () => number
  /** On the clock of what has elapsed. */
  #deadline: number | undefined
  #begin: () => void = () => undefined
  /** Resolves when nothing runs any more, or may no longer. */
  readonly drained: Promise<void>

  constructor(clock: Clock, working: () => number) {
    this.#clock = clock
    this.#working = working
    const begun = new Promise<void>((resolve) => (this.#begin = resolve))
    this.drained = begun.then(() => this.#wait())
  }

  get isStopping(): boolean {
    return this.#deadline !== undefined
  }

  /** Said again, it can only come sooner. */
  stop(graceMs: number): void {
    this.#deadline = Math.min(this.#deadline ?? Infinity, this.#clock.monotonicNow() + graceMs)
    this.#begin()
  }

  async #wait(): Promise<void> {
    while (this.#clock.monotonicNow() < (this.#deadline ?? 0) && this.#working() > 0) await this.#clock.sleep(PAUSE)
  }
}
