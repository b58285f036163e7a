/** Shows what a command says while it runs: soon at first, then less and less often, because each report is kept. */
import type { Clock, Timer } from '../../../ports/clock.ts'
import type { ToolCallContext } from '../../../ports/tools.ts'
import type { Output } from './output.ts'

const FIRST_MS = 250
const LAST_MS = 5_000
/** Characters of a report. */
const SHOWN = 4_000

/** Returns how to end it. */
export function showProgress(output: Output, caller: Pick<ToolCallContext, 'report'>, clock: Clock): () => void {
  let shown = 0
  let timer: Timer
  const wait = (ms: number): void => {
    timer = clock.setTimer(ms, () => {
      if (output.total > shown) tell()
      wait(Math.min(ms * 1.5, LAST_MS))
    })
  }
  const tell = (): void => {
    shown = output.total
    const text = output.lately(SHOWN)
    // Nobody hears of a turn that is over.
    caller.report({ content: [{ type: 'content', content: { type: 'text', text } }] }).catch(() => undefined)
  }
  wait(FIRST_MS)
  return () => timer.cancel()
}
