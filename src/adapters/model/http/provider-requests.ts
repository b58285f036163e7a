/**
 * HTTP requests to a provider: long header timeouts, no redirects, and watched: a request ends when it is cancelled, when its
 * provider is silent for too long, and when the answer is too large. Small events of the answer are joined.
 */
import { STATUS_CODES } from 'node:http'
import { type Readable, pipeline } from 'node:stream'
import { constants, createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { Agent, type Dispatcher, request, fetch as undiciFetch } from 'undici'
import type { Clock, Timer } from '../../../ports/clock.ts'
import type { Signal } from '../../../ports/values/signal.ts'

export interface Transport {
  /** A `fetch` for the provider packages. A request is identified by its abort signal. */
  readonly fetch: typeof globalThis.fetch
  /** Requests with the signal of this watch are watched by it. */
  watch(watch: Watch): void
  close(): Promise<void>
}

/** A local model may read a long prompt for many minutes; the watch has its own limits. */
const LONG_TIMEOUTS = { headersTimeout: 0, bodyTimeout: 0, connect: { timeout: 10_000 } }

export function openTransport(): Transport {
  const agent = new Agent(LONG_TIMEOUTS)
  const watches = new WeakMap<AbortSignal, Watch>()
  return {
    async fetch(url, init) {
      const watch = init?.signal ? watches.get(init.signal) : undefined
      // A redirect would carry the key's header to another address, so it is an error that names the new address.
      const sent = { ...(init as object), dispatcher: agent, redirect: 'manual' } as const
      if (watch === undefined) return (await undiciFetch(url as string, sent)) as unknown as Response
      const { statusCode, headers, body } = await watch.first(() => send(agent, url as string, init))
      const isEmpty = WITHOUT_BODY.has(statusCode)
      if (isEmpty) await body.dump()
      const head = { status: statusCode, statusText: STATUS_CODES[statusCode] ?? '', headers: headersOf(headers) }
      return new Response(isEmpty ? null : watch.watched(decoded(body, headers['content-encoding'])), head)
    },
    watch: (watch) => void watches.set(watch.signal, watch),
    close: () => agent.destroy(),
  }
}

/** A Response must not have a body with these status codes. */
const WITHOUT_BODY: ReadonlySet<number> = new Set([101, 204, 205, 304])

/** Like `fetch`, but without its web streams. It fails with the same errors as `fetch`, because the packages expect them. */
async function send(dispatcher: Agent, url: string, init: RequestInit = {}): Promise<Dispatcher.ResponseData> {
  const { method = 'GET', body, headers, signal } = init
  try {
    return await request(url, {
      dispatcher,
      method,
      // Compressing single tokens costs both sides more than it saves.
      headers: { ...Object.fromEntries(new Headers(headers)), 'accept-encoding': 'identity' },
      body: (body as string | null | undefined) ?? null,
      signal: signal ?? null,
    })
  } catch (error) {
    throw new TypeError('fetch failed', { cause: error })
  }
}

function headersOf(headers: Dispatcher.ResponseData['headers']): Headers {
  const all = Object.entries(headers).flatMap(([name, value]) =>
    [value ?? []].flat().map((one) => [name, one] as const),
  )
  return new Headers(all.map(([name, value]): [string, string] => [name, value]))
}

/** Flushes each chunk instead of waiting for a full block. */
const flushEachChunk = { flush: constants.Z_SYNC_FLUSH }

const decoders: ReadonlyMap<string, () => NodeJS.ReadWriteStream> = new Map([
  ['gzip', () => createGunzip(flushEachChunk)],
  ['x-gzip', () => createGunzip(flushEachChunk)],
  ['deflate', () => createInflate(flushEachChunk)],
  ['br', () => createBrotliDecompress({ flush: constants.BROTLI_OPERATION_FLUSH })],
])

/** Undoes the content encodings of the header, last first; unknown encodings are left as they are. */
export function decoded(body: Readable, encoding: string | readonly string[] | undefined): Readable {
  const packers = [encoding ?? []].flat().join(',').split(',')
  return packers.reduceRight((packed, name) => {
    const unpack = decoders.get(name.trim().toLowerCase())
    // The reader of the result gets the error.
    return unpack === undefined ? packed : (pipeline(packed, unpack(), () => undefined) as unknown as Readable)
  }, body)
}

export interface StreamTimeouts {
  /** Until the first byte. */
  readonly firstMs: number
  /** Between bytes. */
  readonly nextMs: number
  /** Between tokens: a server may keep a connection open without saying anything. */
  readonly wordsMs: number
}

/** Bytes of one answer. */
const MAX_ANSWER_BYTES = 256 * 1024 * 1024
/** Bytes of one line, which must fit in memory. */
const MAX_LINE_BYTES = 32 * 1024 * 1024

export type EndReason =
  | { readonly kind: 'cancelled' }
  | { readonly kind: 'idle'; readonly ms: number }
  | { readonly kind: 'flooded' }

export class Watch {
  /** Why the request was ended; undefined while it runs. */
  endReason: EndReason | undefined
  /** Joins small events of the answer. */
  readonly runs = new SseChunkMerger()
  readonly #timeouts: StreamTimeouts
  readonly #asked: Signal
  readonly #source
  readonly #cancel = () => this.end({ kind: 'cancelled' })
  readonly #bytes: IdleTimer
  readonly #words: IdleTimer

  constructor(clock: Clock, timeouts: StreamTimeouts, asked: Signal) {
    this.#timeouts = timeouts
    this.#asked = asked
    this.#source = clock.abortSource()
    const idle = (ms: number) => this.end({ kind: 'idle', ms })
    this.#bytes = new IdleTimer(clock, idle)
    this.#words = new IdleTimer(clock, idle)
    if (asked.aborted) this.#cancel()
    else asked.addEventListener('abort', this.#cancel, { once: true })
  }

  /** The abort signal of the request. */
  get signal(): AbortSignal {
    return this.#source.signal as AbortSignal
  }

  end(endReason: EndReason): void {
    this.endReason ??= endReason
    this.#source.abort()
  }

  close(): void {
    this.#asked.removeEventListener('abort', this.#cancel)
    this.#bytes.close()
    this.#words.close()
    this.#source.abort()
  }

  /** Starts waiting for the next token, however many bytes arrive. */
  word<Result>(wait: () => Promise<Result>): Promise<Result> {
    return this.#words.during(this.#timeouts.wordsMs, wait)
  }

  /** Starts waiting for the head of the answer. */
  first<Result>(wait: () => Promise<Result>): Promise<Result> {
    return this.#bytes.during(this.#timeouts.firstMs, wait)
  }

  /** The time runs only while the answer is being read: a reader that pauses does not make the provider silent. */
  watched(body: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> {
    const reader = body[Symbol.asyncIterator]()
    const limits = new Limits()
    let limitMs = this.#timeouts.firstMs
    const read = () => reader.next()
    /** The next bytes for the package; undefined at the end. */
    const next = async (): Promise<Uint8Array | undefined> => {
      const { done, value } = await this.#bytes.during(limitMs, read)
      limitMs = this.#timeouts.nextMs
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
      // A pending read ends with the request.
      cancel: () => void reader.return?.().catch(() => undefined),
    })
  }
}

/** A wait with a limit. One timer serves many short waits: it checks whether the current one began long ago. */
class IdleTimer {
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
    return this.#all > MAX_ANSWER_BYTES || this.#line > MAX_LINE_BYTES
  }
}

/**
 * Events that differ only in the text that they add are joined to one event before the provider's package reads them, and
 * split again behind it: a package takes longer for an event than everything that follows from it.
 */

/** Bytes of one event that is joined; larger ones are passed on as they are. */
interface Addition {
  /** The bytes before and behind the text. */
  readonly head: string
  readonly tail: string
  /** The text as it is written in JSON. */
  readonly written: string
}

interface JoinedEvent {
  readonly text: string
  readonly pieces: readonly string[]
}

const LETTERS = String.raw`(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*`
const OPENAI = String.raw`"delta": ?\{(?:"role": ?"assistant", ?)?"(?:content|reasoning_content|reasoning)": ?"`
const ANTHROPIC = String.raw`"delta": ?\{"type": ?"(?:text_delta", ?"text|thinking_delta", ?"thinking)": ?"`
const GOOGLE = String.raw`"parts": ?\[\{"text": ?"`
/** An event with other varying fields is not joined: they would be lost. */
const BEHIND = String.raw`"(?:, ?"thought": ?true)?\}[^\n]*`
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
  readonly #runs: JoinedEvent[] = []

  /** The bytes that the package reads instead; empty until an event is complete. */
  join(bytes: Uint8Array): Uint8Array {
    if (this.#isOver) return bytes
    const text = this.#rest + Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
    const end = text.lastIndexOf(END)
    this.#rest = end === -1 ? text : text.slice(end + END.length)
    // An answer with other line ends has no such separator.
    this.#isOver = this.#rest.length > MAX_EVENT_CHARS || text.includes('\r')
    const whole = end === -1 ? '' : this.#joined(text.slice(0, end).split(END))
    return Buffer.from(this.#isOver ? whole + this.#takeRest() : whole, 'latin1')
  }

  /** The unfinished rest when the answer ended. */
  rest(): Uint8Array {
    return Buffer.from(this.#takeRest(), 'latin1')
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
        if (first === undefined) out.push(asData(event))
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
      if (this.#runs.length > MAX_JOINED_EVENTS) this.#runs.shift()
    }
    return head + written.join('') + tail
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
