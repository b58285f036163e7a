/**
 * Events that differ in nothing but the text they add are one event for a provider's package, and several again behind it:
 * a package takes longer over an event than everything else that becomes of it.
 */

/** Of one event; the others are passed on as they are. */
interface Addition {
  /** What stands before the text and behind it, letter by letter. */
  readonly head: string
  readonly tail: string
  /** As it is written in JSON. */
  readonly written: string
}

interface Run {
  readonly text: string
  readonly pieces: readonly string[]
}

const LETTERS = String.raw`(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*`
const OPENAI = String.raw`"delta": ?\{(?:"role": ?"assistant", ?)?"(?:content|reasoning_content|reasoning)": ?"`
const ANTHROPIC = String.raw`"delta": ?\{"type": ?"(?:text_delta", ?"text|thinking_delta", ?"thinking)": ?"`
const GOOGLE = String.raw`"parts": ?\[\{"text": ?"`
/** Nothing else may stand beside the text: what is written twice would be heard once. */
const BEHIND = String.raw`"(?:, ?"thought": ?true)?\}[^\n]*`
const ADDS = new RegExp(
  String.raw`^((?:event: ?\w+\n)?data: ?[^\n]*?(?:${OPENAI}|${ANTHROPIC}|${GOOGLE}))(${LETTERS})(${BEHIND})$`,
  'u',
)
const WRITTEN = new RegExp(`^${LETTERS}$`, 'u')

const END = '\n\n'
/** A package that passes over what was joined never asks for it. */
const MOST_RUNS = 256
/** Of an event whose end has not come; longer ones, and all that follows, go on as they came. */
const MOST_LETTERS = 64 * 1024

/** Of one answer. Bytes are letters here, one for one, so that nothing is lost in what is not understood. */
export class SseChunkMerger {
  #rest = ''
  #isOver = false
  readonly #runs: Run[] = []

  /** What its package reads instead; may be empty, until the end of an event has come. */
  join(bytes: Uint8Array): Uint8Array {
    if (this.#isOver) return bytes
    const text = this.#rest + Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
    const end = text.lastIndexOf(END)
    this.#rest = end === -1 ? text : text.slice(end + END.length)
    // An answer whose lines end otherwise has no such end, and none is waited for.
    this.#isOver = this.#rest.length > MOST_LETTERS || text.includes('\r')
    const whole = end === -1 ? '' : this.#joined(text.slice(0, end).split(END))
    return Buffer.from(this.#isOver ? whole + this.#takeRest() : whole, 'latin1')
  }

  /** What had no end when the answer ended. */
  rest(): Uint8Array {
    return Buffer.from(this.#takeRest(), 'latin1')
  }

  /** What the events said of which this is the text; undefined where it is that of one event. */
  pieces(text: string): readonly string[] | undefined {
    const at = this.#runs.findIndex((run) => run.text === text)
    if (at === -1) return undefined
    const [run] = this.#runs.splice(0, at + 1).slice(-1)
    return run?.pieces
  }

  #takeRest(): string {
    const rest = this.#rest
    this.#rest = ''
    return rest
  }

  #joined(events: readonly string[]): string {
    const out: string[] = []
    let open: { readonly first: Addition; readonly written: string[] } | undefined
    const close = (): void => {
      if (open !== undefined) out.push(this.#close(open.first, open.written))
      open = undefined
    }
    for (const event of events) {
      const more = open === undefined ? undefined : writtenIn(event, open.first)
      if (more !== undefined) open?.written.push(more)
      else {
        close()
        const first = additionIn(event)
        if (first === undefined) out.push(event)
        else open = { first, written: [first.written] }
      }
    }
    close()
    return out.map((event) => event + END).join('')
  }

  #close({ head, tail }: Addition, written: readonly string[]): string {
    if (written.length > 1) {
      const pieces = written.map(read)
      this.#runs.push({ text: pieces.join(''), pieces: pieces.filter((piece) => piece !== '') })
      if (this.#runs.length > MOST_RUNS) this.#runs.shift()
    }
    return head + written.join('') + tail
  }
}

function additionIn(event: string): Addition | undefined {
  const [, head, written, tail] = ADDS.exec(event) ?? []
  return head === undefined || written === undefined || tail === undefined ? undefined : { head, written, tail }
}

/** What an event adds that is otherwise this one. */
function writtenIn(event: string, { head, tail }: Addition): string | undefined {
  const length = event.length - head.length - tail.length
  if (length < 0 || !event.startsWith(head) || !event.endsWith(tail)) return undefined
  const written = event.slice(head.length, head.length + length)
  return WRITTEN.test(written) ? written : undefined
}

function read(written: string): string {
  return JSON.parse(`"${Buffer.from(written, 'latin1').toString()}"`) as string
}
