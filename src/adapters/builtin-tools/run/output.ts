/** What a command has said: its beginning, its end and how much there was, in bounded memory. */
import { MAX_KEPT_CHARS, formatCount } from '../toolset/result.ts'
import type { Clock, Timer } from '../../../ports/clock.ts'
import type { ToolCallContext } from '../../../ports/tools.ts'

const HEAD = MAX_KEPT_CHARS / 4
const TAIL = MAX_KEPT_CHARS - HEAD - 200
/** Between two cuts of the tail, so that not every chunk costs one. */
const SLACK = 256 * 1024

export class Output {
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
    const room = HEAD - this.#head.length
    this.#head += text.slice(0, room)
    this.#tail += text.slice(room)
    if (this.#tail.length > TAIL + SLACK) this.#tail = this.#tail.slice(-TAIL)
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
    return readable(lost > 0 ? `${head}\n[${formatCount(lost)} characters were not kept.]\n${tail}` : `${head}${tail}`)
  }

  /** For whoever looks on. */
  lately(limit: number): string {
    return readable(`${this.#head}${this.#tail}`.slice(-limit))
  }
}

const [BEL, ESC, CSI] = ['\u0007', '\u001B', '\u009B']
/** Colours, titles, and what else a terminal is told. Each of them ends before the next begins, so that none is looked at twice. */
const SEQUENCES = new RegExp(
  [
    String.raw`${ESC}\][^${BEL}${ESC}]*(?:${BEL}|${ESC}\\)`,
    String.raw`(?:${ESC}\[|${CSI})[0-?]*[ -/]*[@-~]`,
    String.raw`${ESC}[ -/]*[0-Z\\^-~]`,
  ].join('|'),
  'gu',
)

/** Without colours, without what a terminal would have overwritten, and without what it would have done. */
export function readable(text: string): string {
  const plain = text.replaceAll(SEQUENCES, '').replaceAll('\r\n', '\n')
  const lines = plain.replaceAll(/[^\P{Cc}\n\t\r]/gu, '').split('\n')
  return lines.map((line) => line.slice(line.lastIndexOf('\r') + 1)).join('\n')
}

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
