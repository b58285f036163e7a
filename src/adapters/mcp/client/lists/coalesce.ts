/** Many wishes for the same work: one runs, at most one waits, and the last wish is never lost. */
import type { Clock } from '../../../../ports/clock.ts'

export interface Coalesced {
  /** Wishes for the work to be done from now on. */
  readonly wish: () => void
}

export interface CoalesceOptions {
  readonly clock: Clock
  /** The least time from the start of one run to the start of the next. */
  readonly pauseMs: number
  /** What that grows to, doubling, while wish after wish turns out to have had no cause. */
  readonly idlePauseMs: number
  readonly signal: AbortSignal
}

/** `work` says whether there was anything to do, and must not throw. It runs at once when nothing ran lately. */
export function coalesce(work: () => Promise<boolean>, options: CoalesceOptions): Coalesced {
  const { clock, pauseMs, idlePauseMs, signal } = options
  let state: 'idle' | 'running' | 'running, wished again' = 'idle'

  async function run(before: number): Promise<void> {
    state = 'running'
    const begun = clock.monotonicNow()
    const pause = (await work()) ? pauseMs : Math.min(before * 2, idlePauseMs)
    const rest = Math.max(0, pause - (clock.monotonicNow() - begun))
    // The pause is cut short when the connection ends; nobody waits for it then.
    await clock.sleep(rest, signal).catch(() => undefined)
    const again = wishedAgain() && !signal.aborted
    state = 'idle'
    if (again) void run(pause)
  }

  function wishedAgain(): boolean {
    return state === 'running, wished again'
  }

  return {
    wish() {
      if (state === 'idle') void run(pauseMs / 2)
      else state = 'running, wished again'
    },
  }
}
