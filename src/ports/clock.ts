/** Time, ids and chance, passed in so that a test can own them. */
import type { AbortSource, Signal } from './values/signal.ts'

export interface Clock {
  /** Milliseconds since 1970, as the wall says; it may jump. */
  now(): number
  /** Milliseconds that only ever grow, for measuring how long something took. */
  monotonicNow(): number
  /** Resolves after `ms`; rejects with the signal's reason as soon as it aborts. */
  sleep(ms: number, signal?: Signal): Promise<void>
  /** Resolves once all that had come by now has been looked at: a turn of the event loop. */
  nextTick(): Promise<void>
  /** Calls `run` once after `ms` unless cancelled first. It never keeps the process alive. */
  setTimer(ms: number, run: () => void): Timer
  /** A random UUID, which cannot be guessed and does not repeat. */
  id(): string
  /** A fresh source of cancellation. */
  abortSource(): AbortSource
}

export interface Timer {
  cancel(): void
}
