/** Notices that nobody has wanted a session for a while, so that it may leave memory. */
import type { Clock, Timer } from '../../ports/clock.ts'
import { type State, isBusy, isOnlyWaiting } from '../domain/state.ts'

/** Milliseconds. Long enough for an editor that is started again. */
const REST_AFTER = 60_000

export interface IdleTimerHost {
  readonly clock: Clock
  isUnused(): boolean
  /** Called when the session was unused all the while. */
  rest(): void
}

/** Nothing that runs would be cut. */
export function mayUnload(state: State): boolean {
  return !isBusy(state) || state.phase === 'suspended' || isOnlyWaiting(state)
}

export class IdleTimer {
  readonly #session: IdleTimerHost
  #timer: Timer | undefined

  constructor(session: IdleTimerHost) {
    this.#session = session
  }

  /** Something has changed: the time begins anew, if the session is unused now. */
  consider(): void {
    this.#timer?.cancel()
    this.#timer = this.#session.isUnused()
      ? this.#session.clock.setTimer(REST_AFTER, () => this.#session.rest())
      : undefined
  }

  cancel(): void {
    this.#timer?.cancel()
    this.#timer = undefined
  }
}
