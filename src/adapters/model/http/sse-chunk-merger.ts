/**
 * Events of an answer that differ only in the text that they add are joined to one event before the provider's package reads
 * them, and split again behind it: a package takes longer for an event than everything that follows from it. Where it is known
 * what the package makes of such an event, the ones that follow it are kept from the package altogether.
 */

/** An event that adds a text. */
interface Addition {
  /** The bytes before and behind the text. */
  readonly head: string
  readonly tail: string
  /** The text as it is written in JSON. */
  readonly written: string
}

/** What several events have added, one after the other. */
export interface TextRun {
  readonly text: string
  readonly pieces: readonly string[]
}

const LETTERS = String.raw`(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*`
const OPENAI = String.raw`"delta": ?\{(?:"role": ?"assistant", ?)?"(?:content|reasoning_content|reasoning)": ?"`
const ANTHROPIC = String.raw`"delta": ?\{"type": ?"(?:text_delta", ?"text|thinking_delta", ?"thinking)": ?"`
const GOOGLE = String.raw`"parts": ?\[\{"text": ?"`
/** An event with other varying fields, or with another part behind the text, is not joined: they would be lost. */
const BEHIND = String.raw`"(?:, ?"thought": ?true)?\}(?!, ?\{)[^\n]*`
const DELTA_EVENT = new RegExp(
  String.raw`^((?:event: ?\w+\n)?data: ?[^\n]*?(?:${OPENAI}|${ANTHROPIC}|${GOOGLE}))(${LETTERS})(${BEHIND})$`,
  'u',
)
const JSON_TEXT = new RegExp(`^${LETTERS}$`, 'u')

const END = '\n\n'
/** A package that ignores a joined event never asks for its parts. */
const MAX_JOINED_EVENTS = 256
/** Bytes of an unfinished event. Longer ones, and everything after them, are passed on unchanged. */
const MAX_EVENT_CHARS = 64 * 1024

/** One per answer. Works on Latin-1 text, one character per byte, so that unknown bytes are kept. */
export class SseChunkMerger {
  #rest = ''
  #isOver = false
  readonly #runs: TextRun[] = []
  /** The event that the package was given last, if it was given no other with it, and it adds a text and nothing else. */
  #last: { readonly event: Addition; readonly written: string } | undefined
  /** Events like this one are kept from the package. */
  #kept: Addition | undefined
  #keptTexts: string[] = []

  /** The bytes that the package reads instead; empty until an event is complete. */
  join(bytes: Uint8Array): Uint8Array {
    if (this.#isOver) return bytes
    const text = this.#rest + Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
    const end = text.lastIndexOf(END)
    this.#rest = end === -1 ? text : text.slice(end + END.length)
    // An answer with other line ends has no such separator.
    this.#isOver = this.#rest.length > MAX_EVENT_CHARS || text.includes('\r')
    const whole = end === -1 ? '' : this.#joined(this.#keep(text.slice(0, end).split(END)))
    if (this.#isOver) this.#last = undefined
    return Buffer.from(this.#isOver ? whole + this.#takeRest() : whole, 'latin1')
  }

  /** The unfinished rest when the answer ended. */
  rest(): Uint8Array {
    return Buffer.from(this.#takeRest(), 'latin1')
  }

  /** The text of what the package was given last; undefined unless it was one event that adds a text and nothing else. */
  get lastText(): string | undefined {
    return this.#last === undefined ? undefined : read(this.#last.written)
  }

  /** From here on events that differ from the last one in nothing but their text are kept from the package. */
  keepLikeLast(): void {
    this.#kept = this.#last?.event
  }

  /** The texts that were kept from the package in the bytes that were joined last; they come before what it was given of them. */
  takeKept(): TextRun | undefined {
    const pieces = this.#keptTexts
    if (pieces.length === 0) return undefined
    this.#keptTexts = []
    return { text: pieces.join(''), pieces }
  }

  /** The texts of the events that were joined to this one; undefined if it is a single event. */
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

  /** Keeps the first of these events, as long as they are like the last one; the others are for the package. */
  #keep(events: readonly string[]): readonly string[] {
    for (const [at, event] of events.entries()) {
      const text = this.#kept === undefined ? undefined : writtenIn(event, this.#kept)
      if (text === undefined) {
        this.#kept = undefined
        return events.slice(at)
      }
      if (text !== '') this.#keptTexts.push(read(text))
    }
    return []
  }

  #joined(events: readonly string[]): string {
    const out: string[] = []
    this.#last = undefined
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
        if (first === undefined) out.push(asData(event))
        else open = { first, written: [first.written] }
      }
    }
    close()
    if (out.length !== 1) this.#last = undefined
    return out.map((event) => event + END).join('')
  }

  #close(event: Addition, written: readonly string[]): string {
    if (written.length > 1) {
      const pieces = written.map(read)
      this.#runs.push({ text: pieces.join(''), pieces: pieces.filter((piece) => piece !== '') })
      if (this.#runs.length > MAX_JOINED_EVENTS) this.#runs.shift()
    }
    const all = written.join('')
    this.#last = { event, written: all }
    return event.head + all + event.tail
  }
}

function additionIn(event: string): Addition | undefined {
  const [, head, written, tail] = DELTA_EVENT.exec(event) ?? []
  return head === undefined || written === undefined || tail === undefined ? undefined : { head, written, tail }
}

/** The text that an event adds if it equals this one in everything else. */
function writtenIn(event: string, { head, tail }: Addition): string | undefined {
  const length = event.length - head.length - tail.length
  if (length < 0 || !event.startsWith(head) || !event.endsWith(tail)) return undefined
  const written = event.slice(head.length, head.length + length)
  return JSON_TEXT.test(written) ? written : undefined
}

/** llama.cpp before 2026 names the field of its failures `error`, which readers of event streams must ignore. */
function asData(event: string): string {
  return event.replace(/^error: ?(\{[^\n]*\})$/u, 'data: {"error":$1}')
}

function read(written: string): string {
  return JSON.parse(`"${Buffer.from(written, 'latin1').toString()}"`) as string
}
