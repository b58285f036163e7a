/**
 * The parts of an answer, in order: those that the provider's package makes of the events that it is given, and the texts of
 * the events between them that it need not read. A package takes longer for an event than everything that follows from it. So
 * events that differ only in the text that they add are joined to one event before the package reads them, and split again
 * behind it; where it is known what the package makes of such an event, the ones that follow it are kept from the package
 * altogether.
 */
import type { LanguageModelV3StreamPart } from '@ai-sdk/provider'
import type { Clock } from '../../../ports/clock.ts'

export interface AnswerPart {
  readonly part: LanguageModelV3StreamPart
  /** The texts of the events that made it, if there were several. */
  readonly pieces?: readonly string[] | undefined
}

/** Its promise resolves when it can take another part; undefined: it can. */
type Listener = (heard: AnswerPart) => Promise<void> | undefined

type Reader = ReadableStreamDefaultReader<LanguageModelV3StreamPart>
type Delta = Extract<LanguageModelV3StreamPart, { readonly type: 'text-delta' | 'reasoning-delta' }>

/** What the package said last, until it is asked for. */
type ReadPart = { readonly part: LanguageModelV3StreamPart | undefined } | { readonly error: unknown }

export class AnswerParts {
  readonly #clock: Clock
  readonly #merger = new SseChunkMerger()
  #reader: Reader | undefined
  #isReading = false
  #read: ReadPart | undefined
  /** The last part that added text, and how many did since the package was given something. */
  #delta: Delta | undefined
  #deltas = 0
  #kept: TextRun | undefined
  #keptTaken = (): void => {}
  #listener: Listener | undefined
  /** The listener has not yet taken what it was given last. */
  #isHearing = false
  #failed: { readonly error: unknown } | undefined
  #given = 0
  /** The package has said all that it can say of what it was given. */
  #isQuiet = true
  /** Set while the next part is awaited. */
  #arrived: (() => void) | undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** The bytes that the package is to read of these; resolves once the texts that come before them were taken. */
  async give(bytes: Uint8Array): Promise<Uint8Array> {
    const given = this.#merger.join(bytes)
    const kept = this.#merger.takeKept()
    if (kept !== undefined) await this.#keep(kept)
    if (given.length > 0) void this.#observe()
    return given
  }

  /**
   * Who may be given a text at once, while `next` waits. `next` throws the error with which it fails.
   */
  listen(listener: Listener): void {
    this.#listener = listener
  }

  /**
   * Gives the listener the texts of these bytes: most tokens need nothing else. False, and nothing has happened, where the package
   * must read some of them, or an earlier part is still to be taken.
   */
  pass(bytes: Uint8Array): boolean {
    const isIdle = this.#arrived !== undefined && !this.#isHearing && this.#kept === undefined
    if (!isIdle || this.#listener === undefined || this.#delta === undefined || this.#read !== undefined) return false
    const run = this.#merger.pass(bytes)
    if (run === undefined) return false
    if (run.pieces.length > 0) this.#tell(this.#listener, partOf(run, this.#delta))
    return true
  }

  #tell(listener: Listener, heard: AnswerPart): void {
    try {
      const taken = listener(heard)
      if (taken === undefined) return
      this.#isHearing = true
      taken.then(
        () => (this.#isHearing = false),
        (error: unknown) => this.#fail(error),
      )
    } catch (error) {
      this.#fail(error)
    }
  }

  #fail(error: unknown): void {
    this.#failed ??= { error }
    this.#arrive()
  }

  /** The bytes of an event that is unfinished at the end of the answer. */
  rest(): Uint8Array {
    return this.#merger.rest()
  }

  /** Where the package answers. */
  from(reader: Reader): void {
    this.#reader = reader
  }

  /** Undefined at the end. Throws the error with which the package ends. */
  async next(): Promise<AnswerPart | undefined> {
    for (;;) {
      if (this.#failed !== undefined) throw this.#failed.error
      // Texts are kept from the package only while it is quiet.
      if (this.#kept !== undefined && this.#delta !== undefined) return this.#takeKept(this.#kept, this.#delta)
      if (this.#read !== undefined) return this.#take(this.#read)
      this.#ask()
      await new Promise<void>((resolve) => (this.#arrived = resolve))
    }
  }

  #keep(run: TextRun): Promise<void> {
    this.#kept = run
    return new Promise((resolve) => {
      this.#keptTaken = resolve
      this.#arrive()
    })
  }

  #takeKept(run: TextRun, last: Delta): AnswerPart {
    this.#kept = undefined
    this.#keptTaken()
    return partOf(run, last)
  }

  #ask(): void {
    if (this.#isReading || this.#reader === undefined) return
    this.#isReading = true
    this.#reader.read().then(
      ({ value }) => this.#hear({ part: value }),
      (error: unknown) => this.#hear({ error }),
    )
  }

  #hear(read: ReadPart): void {
    this.#isReading = false
    this.#read = read
    this.#arrive()
  }

  #arrive(): void {
    this.#arrived?.()
    this.#arrived = undefined
  }

  #take(read: ReadPart): AnswerPart | undefined {
    this.#read = undefined
    if ('error' in read) throw read.error
    const { part } = read
    const isDelta = part?.type === 'text-delta' || part?.type === 'reasoning-delta'
    if (isDelta) {
      this.#delta = part
      this.#deltas += 1
    }
    return part && { part, pieces: isDelta ? this.#merger.pieces(part.delta) : undefined }
  }

  /**
   * The packages wait for nothing but bytes. So if all that was possible has run since this one was given some, and its next
   * part is still awaited, it is quiet. If it was quiet before too, and has made one text of the one event between, it is
   * known what it makes of events like that one.
   */
  async #observe(): Promise<void> {
    const wasQuiet = this.#isQuiet
    this.#isQuiet = false
    this.#deltas = 0
    this.#given += 1
    const given = this.#given
    await this.#clock.nextTick()
    if (given !== this.#given || this.#arrived === undefined || this.#read !== undefined) return
    this.#isQuiet = true
    if (wasQuiet && this.#deltas === 1 && this.#delta?.delta === this.#merger.lastText) this.#merger.keepLikeLast()
  }
}

/** As the package would make it of the texts; `last` is what it made of the event before. */
function partOf({ text, pieces }: TextRun, { type, id }: Delta): AnswerPart {
  return { part: { type, id, delta: text }, ...(pieces.length > 1 && { pieces }) }
}

/** An event that adds a text. */
interface Addition {
  /** The bytes before and behind the text. */
  readonly head: string
  readonly tail: string
  /** The text as it is written in JSON. */
  readonly written: string
}

/** What several events have added, one after the other. */
interface TextRun {
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
    const text = this.#rest + latin1(bytes)
    const end = text.lastIndexOf(END)
    this.#rest = end === -1 ? text : text.slice(end + END.length)
    // An answer with other line ends has no such separator.
    this.#isOver = this.#rest.length > MAX_EVENT_CHARS || text.includes('\r')
    const whole = end === -1 ? '' : this.#joined(this.#keep(text.slice(0, end).split(END)))
    if (this.#isOver) this.#last = undefined
    return Buffer.from(this.#isOver ? whole + this.#takeRest() : whole, 'latin1')
  }

  /** The texts of these bytes, if all events that end in them are kept from the package. Otherwise undefined, and they are not taken. */
  pass(bytes: Uint8Array): TextRun | undefined {
    const kept = this.#kept
    if (kept === undefined || this.#isOver) return undefined
    const text = this.#rest + latin1(bytes)
    const end = text.lastIndexOf(END)
    const rest = text.slice(end + END.length)
    if (end === -1 || rest.length > MAX_EVENT_CHARS || text.includes('\r')) return undefined
    const pieces: string[] = []
    for (const event of text.slice(0, end).split(END)) {
      const written = writtenIn(event, kept)
      if (written === undefined) return undefined
      if (written !== '') pieces.push(read(written))
    }
    this.#rest = rest
    return { text: pieces.join(''), pieces }
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
  return PLAIN.test(written) || JSON_TEXT.test(written) ? written : undefined
}

/** llama.cpp before 2026 names the field of its failures `error`, which readers of event streams must ignore. */
function asData(event: string): string {
  return event.replace(/^error: ?(\{[^\n]*\})$/u, 'data: {"error":$1}')
}

function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
}

const PLAIN = /^[\x20-\x21\x23-\x5b\x5d-\x7e]*$/u

function read(written: string): string {
  if (PLAIN.test(written)) return written
  return JSON.parse(`"${Buffer.from(written, 'latin1').toString()}"`) as string
}
