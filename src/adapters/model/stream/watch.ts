/** Looks after one request: ends it when it is cancelled, when its provider falls silent, and when it is flooded. */
import type { Clock, Timer } from '../../../ports/clock.ts'
import type { Signal } from '../../../ports/signal.ts'

export interface Patience {
  /** Until the first byte. */
  readonly firstMs: number
  /** Between bytes. */
  readonly nextMs: number
  /** Between words: a server that only keeps its connection warm says nothing either. */
  readonly wordsMs: number
}

/** Of one answer. */
const MOST_BYTES = 256 * 1024 * 1024
/** Of one line of it, which must stand in memory whole. */
const LONGEST_LINE = 32 * 1024 * 1024

export type Verdict =
  | { readonly kind: 'cancelled' }
  | { readonly kind: 'idle'; readonly ms: number }
  | { readonly kind: 'flooded' }

export class Watch {
  /** Why the request was ended, once it was. */
  verdict: Verdict | undefined
  /** What it joined of the answer. */
  readonly runs = new SseChunkMerger()
  readonly #patience: Patience
  readonly #asked: Signal
  readonly #source
  readonly #cancel = () => this.end({ kind: 'cancelled' })
  readonly #bytes: Waiting
  readonly #words: Waiting

  constructor(clock: Clock, patience: Patience, asked: Signal) {
    this.#patience = patience
    this.#asked = asked
    this.#source = clock.abortSource()
    const idle = (ms: number) => this.end({ kind: 'idle', ms })
    this.#bytes = new Waiting(clock, idle)
    this.#words = new Waiting(clock, idle)
    if (asked.aborted) this.#cancel()
    else asked.addEventListener('abort', this.#cancel, { once: true })
  }

  /** What the request is sent with; it is a real one. */
  get signal(): AbortSignal {
    return this.#source.signal as AbortSignal
  }

  end(verdict: Verdict): void {
    this.verdict ??= verdict
    this.#source.abort()
  }

  close(): void {
    this.#asked.removeEventListener('abort', this.#cancel)
    this.#bytes.close()
    this.#words.close()
    this.#source.abort()
  }

  /** Waits for the next word, however many bytes come. */
  word<Result>(wait: () => Promise<Result>): Promise<Result> {
    return this.#words.during(this.#patience.wordsMs, wait)
  }

  /** Waits for the head of the answer. */
  first<Result>(wait: () => Promise<Result>): Promise<Result> {
    return this.#bytes.during(this.#patience.firstMs, wait)
  }

  /** Its time runs only while somebody reads: who pauses the answer does not make its provider silent. */
  watched(body: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> {
    const reader = body[Symbol.asyncIterator]()
    const limits = new Limits()
    let patience = this.#patience.firstMs
    const read = () => reader.next()
    /** What the package may read next; undefined at the end. */
    const next = async (): Promise<Uint8Array | undefined> => {
      const { done, value } = await this.#bytes.during(patience, read)
      patience = this.#patience.nextMs
      if (done === true) return undefined
      if (limits.isPassedBy(value)) this.end({ kind: 'flooded' })
      const joined = this.runs.join(value)
      return joined.length > 0 ? joined : next()
    }
    return new ReadableStream<Uint8Array>({
      pull: async (controller) => {
        const bytes = await next()
        if (bytes !== undefined) return controller.enqueue(bytes)
        const rest = this.runs.rest()
        if (rest.length > 0) controller.enqueue(rest)
        controller.close()
      },
      // A read that waits ends with the request.
      cancel: () => void reader.return?.().catch(() => undefined),
    })
  }
}

/** Waits that must not last. One timer serves many short ones: it looks whether the wait that is on began long ago. */
class Waiting {
  readonly #clock: Clock
  readonly #tooLong: (ms: number) => void
  #since: number | undefined
  #limit = 0
  #timer: Timer | undefined

  constructor(clock: Clock, tooLong: (ms: number) => void) {
    this.#clock = clock
    this.#tooLong = tooLong
  }

  async during<Result>(ms: number, wait: () => Promise<Result>): Promise<Result> {
    this.#since = this.#clock.monotonicNow()
    if (ms !== this.#limit) this.close()
    this.#limit = ms
    this.#timer ??= this.#clock.setTimer(ms, () => this.#look())
    try {
      return await wait()
    } finally {
      this.#since = undefined
    }
  }

  close(): void {
    this.#timer?.cancel()
    this.#timer = undefined
  }

  #look(): void {
    this.#timer = undefined
    if (this.#since === undefined) return
    const left = this.#limit - (this.#clock.monotonicNow() - this.#since)
    if (left <= 1) this.#tooLong(this.#limit)
    else this.#timer = this.#clock.setTimer(left, () => this.#look())
  }
}

class Limits {
  #all = 0
  #line = 0

  isPassedBy(bytes: Uint8Array): boolean {
    this.#all += bytes.length
    const newline = bytes.lastIndexOf(10)
    this.#line = newline === -1 ? this.#line + bytes.length : bytes.length - newline
    return this.#all > MOST_BYTES || this.#line > LONGEST_LINE
  }
}

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
