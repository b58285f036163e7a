/** Whether this node is certain that no other one can have declared it dead. While it is not, its sessions are paused. */
import type { Clock, Timer } from '../../../ports/clock.ts'

export type Certainty = 'certain' | 'uncertain'

type Listener = (now: Certainty) => void

export class Standing {
  readonly #clock: Pick<Clock, 'setTimer'>
  readonly #listeners = new Set<Listener>()
  #certainty: Certainty = 'certain'
  #lease: Timer | undefined

  constructor(clock: Pick<Clock, 'setTimer'>) {
    this.#clock = clock
  }

  get certainty(): Certainty {
    return this.#certainty
  }

  /** Calls `listener` at each change; returns how to stop that. */
  watch(listener: Listener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** It is certain for so many milliseconds. */
  renewed(ms: number): void {
    this.#lease?.cancel()
    this.#lease = this.#clock.setTimer(ms, () => this.#become('uncertain'))
    this.#become('certain')
  }

  end(): void {
    this.#lease?.cancel()
  }

  #become(certainty: Certainty): void {
    if (certainty === this.#certainty) return
    this.#certainty = certainty
    for (const listener of this.#listeners) listener(certainty)
  }
}
