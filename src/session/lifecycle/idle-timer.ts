/** Unloads a session from memory after nothing has used it for a while. */
import type { Clock, Timer } from '../../ports/clock.ts'
import { type State, isBusy, isOnlyWaiting } from '../domain/state.ts'

/** Long enough for an editor that restarts. */
const UNLOAD_AFTER_MS = 60_000

/** True when unloading would interrupt no work: nothing runs, or the open turn waits for an answer and can be suspended. */
export function mayUnload(state: State): boolean {
  return !isBusy(state) || state.phase === 'suspended' || isOnlyWaiting(state)
}

export class IdleTimer {
  readonly #clock: Clock
  readonly #isUnused: () => boolean
  readonly #unload: () => void
  #timer: Timer | undefined

  /** Calls `unload` once `isUnused` was true for the whole time. */
  constructor(clock: Clock, isUnused: () => boolean, unload: () => void) {
    this.#clock = clock
    this.#isUnused = isUnused
    this.#unload = unload
  }

  /** Call it when anything changes that `isUnused` depends on: the time starts again, or stops while the session is used. */
  restart(): void {
    this.#timer?.cancel()
    this.#timer = this.#isUnused() ? this.#clock.setTimer(UNLOAD_AFTER_MS, this.#unload) : undefined
  }

  cancel(): void {
    this.#timer?.cancel()
    this.#timer = undefined
  }
}
