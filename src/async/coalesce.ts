/** Many requests for the same work become few runs: one runs, at most one waits, and the last request is always followed by a run. */
import type { Clock } from '../ports/clock.ts'
import type { Signal } from '../ports/values/signal.ts'

export interface CoalesceOptions {
  readonly clock: Clock
  /** The least time from the start of one run to the start of the next. */
  readonly pauseMs: number
  /** The longest pause. The pause doubles up to it while one run after another finds nothing to do. */
  readonly idlePauseMs: number
  /** No run starts after it aborts. */
  readonly signal: Signal
}

/**
 * Returns the function that requests a run. The run starts at once when none ran lately.
 * `work` says whether there was anything to do, and must not throw.
 */
export function coalesce(work: () => Promise<boolean>, options: CoalesceOptions): () => void {
  const { clock, pauseMs, idlePauseMs, signal } = options
  let state: 'idle' | 'running' | 'running and requested again' = 'idle'

  async function run(pauseBefore: number): Promise<void> {
    state = 'running'
    const startedAt = clock.monotonicNow()
    const pause = (await work()) ? pauseMs : Math.min(pauseBefore * 2, idlePauseMs)
    const left = Math.max(0, pause - (clock.monotonicNow() - startedAt))
    // The pause ends early when the signal aborts; there is no further run then.
    await clock.sleep(left, signal).catch(() => undefined)
    const again = isRequestedAgain() && !signal.aborted
    state = 'idle'
    if (again) void run(pause)
  }

  function isRequestedAgain(): boolean {
    return state === 'running and requested again'
  }

  return () => {
    if (state === 'idle') void run(pauseMs / 2)
    else state = 'running and requested again'
  }
}
