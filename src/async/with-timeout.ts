/** Limits on how long something may take. The clock is passed in, so that a test need not wait. */
import type { Clock } from '../ports/clock.ts'
import type { Signal } from '../ports/values/signal.ts'
import { onAbort } from './abort.ts'

export interface TimeoutOptions {
  readonly clock: Pick<Clock, 'abortSource' | 'setTimer'>
  /** No limit if undefined. */
  readonly ms: number | undefined
  /** The work also ends when one of these aborts; `run` then sees its reason. */
  readonly signals?: readonly Signal[]
  /** The error to throw for a failure after the time was over. */
  readonly timedOut: (cause: unknown) => Error
}

/** Runs work with a signal that aborts after `ms`. It waits for the work itself, which must heed that signal. */
export async function withTimeout<Result>(
  run: (signal: Signal) => Promise<Result>,
  { clock, ms, signals = [], timedOut }: TimeoutOptions,
): Promise<Result> {
  const source = clock.abortSource()
  let isLate = false
  const end = (): void => {
    isLate = !source.signal.aborted
    source.abort()
  }
  const timer = ms === undefined ? undefined : clock.setTimer(ms, end)
  const stopListening = signals.map((signal) => onAbort(signal, () => source.abort(signal.reason)))
  try {
    return await run(source.signal)
  } catch (error) {
    throw isLate ? timedOut(error) : error
  } finally {
    timer?.cancel()
    for (const stop of stopListening) stop()
  }
}

export interface WaitLimits {
  readonly clock: Pick<Clock, 'setTimer'>
  readonly ms: number
  /** Each of them ends the wait when it aborts. */
  readonly signals?: readonly Signal[]
}

/** Settles as `work` does, or resolves with undefined after `ms` or when a signal aborts. The work itself is not stopped. */
export async function waitAtMost<Result>(
  work: Promise<Result>,
  { clock, ms, signals = [] }: WaitLimits,
): Promise<Result | undefined> {
  let stop = (): void => undefined
  const over = new Promise<undefined>((resolve) => {
    const end = (): void => resolve(undefined)
    const timer = clock.setTimer(ms, end)
    const stopListening = signals.map((signal) => onAbort(signal, end))
    stop = () => {
      timer.cancel()
      for (const each of stopListening) each()
    }
  })
  try {
    return await Promise.race([work, over])
  } finally {
    stop()
  }
}
