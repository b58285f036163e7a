/** The output of a command in bounded memory: its beginning, its end and its length. */
import { MAX_KEPT_CHARS } from '../toolset/result-limits.ts'
import { formatCount } from '../../../text/shorten.ts'
import type { Clock, Timer } from '../../../ports/clock.ts'
import type { ToolCallContext } from '../../../ports/tools.ts'

const HEAD_CHARS = MAX_KEPT_CHARS / 4
const TAIL_CHARS = MAX_KEPT_CHARS - HEAD_CHARS - 200
/** Between two cuts of the tail, so that not every chunk costs one. */
const TAIL_SLACK_CHARS = 256 * 1024

export class CommandOutput {
  readonly #decoder = new TextDecoder()
  #head = ''
  #tail = ''
  /** Characters so far. */
  #total = 0

  append(bytes: Uint8Array): void {
    this.add(this.#decoder.decode(bytes, { stream: true }))
  }

  add(text: string): void {
    this.#total += text.length
    const room = HEAD_CHARS - this.#head.length
    this.#head += text.slice(0, room)
    this.#tail += text.slice(room)
    if (this.#tail.length > TAIL_CHARS + TAIL_SLACK_CHARS) this.#tail = this.#tail.slice(-TAIL_CHARS)
  }

  get total(): number {
    return this.#total
  }

  /** From this character on; where some of that is not kept it says so. */
  from(start: number): string {
    const tailStart = this.#total - this.#tail.length
    const head = this.#head.slice(start)
    const tail = this.#tail.slice(Math.max(0, start - tailStart))
    const lost = tailStart - Math.max(start, this.#head.length)
    return withoutControls(
      lost > 0 ? `${head}\n[${formatCount(lost)} characters were not kept.]\n${tail}` : `${head}${tail}`,
    )
  }

  /** For clients that watch the command. */
  lately(limit: number): string {
    return withoutControls(`${this.#head}${this.#tail}`.slice(-limit))
  }
}

const [BEL, ESC, CSI] = ['\u0007', '\u001B', '\u009B']
/** Control sequences of terminals. Each ends before the next begins, so that matching takes linear time. */
const SEQUENCES = new RegExp(
  [
    String.raw`${ESC}\][^${BEL}${ESC}]*(?:${BEL}|${ESC}\\)`,
    String.raw`(?:${ESC}\[|${CSI})[0-?]*[ -/]*[@-~]`,
    String.raw`${ESC}[ -/]*[0-Z\\^-~]`,
  ].join('|'),
  'gu',
)

/** Without colours, without what a terminal would have overwritten, and without what it would have done. */
export function withoutControls(text: string): string {
  const plain = text.replaceAll(SEQUENCES, '').replaceAll('\r\n', '\n')
  const lines = plain.replaceAll(/[^\P{Cc}\n\t\r]/gu, '').split('\n')
  return lines.map((line) => line.slice(line.lastIndexOf('\r') + 1)).join('\n')
}

const FIRST_REPORT_MS = 250
const MAX_REPORT_MS = 5_000
/** Characters of a report. */
const MAX_REPORT_CHARS = 4_000

/** Returns how to end it. */
export function showProgress(output: CommandOutput, caller: Pick<ToolCallContext, 'report'>, clock: Clock): () => void {
  let shown = 0
  let timer: Timer
  const wait = (ms: number): void => {
    timer = clock.setTimer(ms, () => {
      if (output.total > shown) tell()
      wait(Math.min(ms * 1.5, MAX_REPORT_MS))
    })
  }
  const tell = (): void => {
    shown = output.total
    const text = output.lately(MAX_REPORT_CHARS)
    // A report after the end of the turn is dropped.
    caller.report({ content: [{ type: 'content', content: { type: 'text', text } }] }).catch(() => undefined)
  }
  wait(FIRST_REPORT_MS)
  return () => timer.cancel()
}
