/** Many wishes for the same work: one runs, at most one waits, and the last wish is never lost. */
import type { Clock } from '../../../ports/clock.ts'

export interface Coalesced {
  /** Wishes for the work to be done from now on. */
  readonly wish: () => void
}

export interface CoalesceOptions {
  readonly clock: Clock
  /** The least time from the start of one run to the start of the next. */
  readonly pauseMs: number
  readonly signal: AbortSignal
}

/** `work` must not throw. It runs at once when nothing ran lately, else when the pause is over. */
export function coalesce(work: () => Promise<void>, { clock, pauseMs, signal }: CoalesceOptions): Coalesced {
  let state: 'idle' | 'running' | 'running, wished again' = 'idle'

  async function run(): Promise<void> {
    state = 'running'
    const pause = clock.sleep(pauseMs, signal)
    // The pause is cut short when the connection ends; nobody waits for it then.
    pause.catch(() => undefined)
    await work()
    await pause.catch(() => undefined)
    const again = wishedAgain() && !signal.aborted
    state = 'idle'
    if (again) void run()
  }

  function wishedAgain(): boolean {
    return state === 'running, wished again'
  }

  return {
    wish() {
      if (state === 'idle') void run()
      else state = 'running, wished again'
    },
  }
}
