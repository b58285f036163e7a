/**
 * HTTP requests to a provider: no redirects, and watched: a request ends when it is cancelled, when its provider is silent for
 * too long, and when the answer is too large. Small events of the answer are joined. It is Node's own client: `fetch`, in which
 * each piece of an answer passes several streams, takes more memory and time than everything else that a server has of a model.
 */
import { Agent, type ClientRequest, type IncomingMessage, STATUS_CODES, request as requestHttp } from 'node:http'
import { Agent as SecureAgent, request as requestHttps } from 'node:https'
import type { Socket } from 'node:net'
import { type Readable, pipeline } from 'node:stream'
import { constants, createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import type { Clock, Timer } from '../../../ports/clock.ts'
import type { Signal } from '../../../ports/values/signal.ts'
import { AnswerParts } from './answer-parts.ts'

export interface ProviderTransport {
  /** A `fetch` for the provider packages. A request is identified by its abort signal. */
  readonly fetch: typeof globalThis.fetch
  /** Requests with the signal of this watch are watched by it. */
  watch(watch: RequestWatch): void
  close(): Promise<void>
}

/** A connection that waits for a next request is closed after so long. Milliseconds. */
const IDLE_MS = 4_000
const CONNECT_TIMEOUT_MS = 10_000

export function openProviderTransport(): ProviderTransport {
  const connections = new Connections()
  const watches = new WeakMap<AbortSignal, RequestWatch>()
  return {
    async fetch(url, init) {
      const watch = init?.signal ? watches.get(init.signal) : undefined
      const ask = () => connections.ask(new URL(url as string), init)
      const answer = await (watch === undefined ? ask() : watch.first(ask))
      const status = answer.statusCode ?? 0
      const head = { status, statusText: STATUS_CODES[status] ?? '', headers: headersOf(answer) }
      if (WITHOUT_BODY.has(status)) return (answer.resume(), responseOf(null, head))
      const body = new BodyReader(decoded(answer, answer.headers['content-encoding']))
      return responseOf(watch === undefined ? streamOf(body, () => body.next()) : watch.watched(body), head)
    },
    watch: (watch) => void watches.set(watch.signal, watch),
    async close() {
      connections.close()
    },
  }
}

/** There is no body with these status codes. */
const WITHOUT_BODY: ReadonlySet<number> = new Set([101, 204, 205, 304])

interface ResponseHead {
  readonly status: number
  readonly statusText: string
  readonly headers: Iterable<readonly [string, string]>
}

/**
 * What the packages and the list of models use of a `Response`. To make one of Node's, or its `Headers`, loads all of its `fetch`,
 * which takes 18 ms of processor time and 6 MiB.
 */
export function responseOf(body: ReadableStream<Uint8Array> | null, head: ResponseHead): Response {
  const { status, statusText } = head
  const response = {
    status,
    statusText,
    headers: new HeaderFields(head.headers),
    body,
    ok: status >= 200 && status < 300,
  }
  return response as unknown as Response
}

/** `Headers`, as far as the packages use it; in the bundles they have this one (`rolldown.config.ts`). */
export class HeaderFields extends Map<string, string> {
  constructor(fields: Iterable<readonly [string, string]> | Readonly<Record<string, string>> = {}) {
    super()
    const pairs = Symbol.iterator in fields ? fields : Object.entries(fields)
    for (const [name, value] of pairs) this.append(name, value)
  }

  append(name: string, value: string): void {
    const former = this.get(name)
    this.set(name, former === undefined ? value : `${former}, ${value}`)
  }

  override get(name: string): string | undefined {
    return super.get(name.toLowerCase())
  }

  override set(name: string, value: string): this {
    return super.set(name.toLowerCase(), value.trim())
  }

  override has(name: string): boolean {
    return super.has(name.toLowerCase())
  }

  override delete(name: string): boolean {
    return super.delete(name.toLowerCase())
  }
}

class Connections {
  readonly #plain = new Agent({ keepAlive: true, timeout: IDLE_MS })
  readonly #secure = new SecureAgent({ keepAlive: true, timeout: IDLE_MS })

  /**
   * Resolves with the head of the answer. A redirect would carry the key's header to another address, so none is followed. It
   * fails as `fetch` does, because the packages expect that.
   */
  async ask(url: URL, { method = 'GET', body, headers, signal }: RequestInit = {}): Promise<IncomingMessage> {
    const text = (body as string | null | undefined) ?? undefined
    const sent = {
      method,
      // Compressing single tokens costs both sides more than it saves.
      headers: {
        ...Object.fromEntries(new HeaderFields(headers as Record<string, string>)),
        'accept-encoding': 'identity',
        ...lengthOf(text),
      },
      // Of a connection that is in use. A local model may read a long prompt for many minutes; the watch has its own limits.
      timeout: 0,
      ...(signal && { signal }),
    }
    try {
      return await new Promise<IncomingMessage>((resolve, reject) => {
        const asked =
          url.protocol === 'https:'
            ? requestHttps(url, { ...sent, agent: this.#secure })
            : requestHttp(url, { ...sent, agent: this.#plain })
        asked.once('response', resolve).on('error', reject)
        limitConnecting(asked, url.protocol === 'https:' ? 'secureConnect' : 'connect')
        asked.end(text)
      })
    } catch (error) {
      throw new TypeError('fetch failed', { cause: error })
    }
  }

  close(): void {
    this.#plain.destroy()
    this.#secure.destroy()
  }
}

function lengthOf(text: string | undefined): Readonly<Record<string, string>> {
  return text === undefined ? {} : { 'content-length': String(Buffer.byteLength(text)) }
}

function limitConnecting(asked: ClientRequest, connected: 'connect' | 'secureConnect'): void {
  asked.once('socket', (socket: Socket) => {
    if (asked.reusedSocket) return
    const late = (): void => void socket.destroy(Object.assign(new Error('it is silent'), { code: 'ETIMEDOUT' }))
    socket.setTimeout(CONNECT_TIMEOUT_MS, late)
    socket.once(connected, () => socket.setTimeout(0, late))
  })
}

function headersOf({ rawHeaders }: IncomingMessage): HeaderFields {
  const headers = new HeaderFields()
  for (let at = 0; at < rawHeaders.length; at += 2) headers.append(rawHeaders[at] ?? '', rawHeaders[at + 1] ?? '')
  return headers
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
export function decoded(body: Readable, encoding: string | undefined): Readable {
  return (encoding ?? '').split(',').reduceRight((packed, name) => {
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

export class RequestWatch {
  /** Why the request was ended; undefined while it runs. */
  endReason: EndReason | undefined
  /** Joins small events of the answer, and passes most of them by the package. */
  readonly parts: AnswerParts
  readonly #timeouts: StreamTimeouts
  readonly #asked: Signal
  readonly #source
  readonly #cancel = () => this.end({ kind: 'cancelled' })
  readonly #bytes: IdleTimer
  readonly #words: IdleTimer

  constructor(clock: Clock, timeouts: StreamTimeouts, asked: Signal) {
    this.#timeouts = timeouts
    this.#asked = asked
    this.parts = new AnswerParts(clock)
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
  watched(body: BodyReader): ReadableStream<Uint8Array> {
    const limits = new Limits()
    let limitMs = this.#timeouts.firstMs
    const read = () => body.next()
    /** The next bytes for the package; undefined at the end. */
    const next = async (): Promise<Uint8Array | undefined> => {
      const value = await this.#bytes.during(limitMs, read)
      limitMs = this.#timeouts.nextMs
      if (value === undefined) return undefined
      if (limits.isPassedBy(value)) this.end({ kind: 'flooded' })
      const given = await this.parts.give(value)
      return given.length > 0 ? given : next()
    }
    body.onBytes = (bytes) => {
      if (!this.parts.pass(bytes)) return false
      this.#bytes.again()
      this.#words.again()
      if (limits.isPassedBy(bytes)) this.end({ kind: 'flooded' })
      return true
    }
    return streamOf(body, async () => {
      const bytes = await next()
      if (bytes !== undefined) return bytes
      const rest = this.parts.rest()
      return rest.length > 0 ? rest : undefined
    })
  }
}

/** `next`: the bytes to read instead of those of the body; undefined at the end. */
function streamOf(body: BodyReader, next: () => Promise<Uint8Array | undefined>): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      const bytes = await next()
      if (bytes === undefined) controller.close()
      else controller.enqueue(bytes)
    },
    // A pending read ends with the request.
    cancel: () => body.destroy(),
  })
}

/** Bytes that came before they were asked for, from which on a body is not read on. */
const MAX_AHEAD_BYTES = 64 * 1024

/** Reads a body as its bytes come. A stream's own iterator takes several turns of the event loop for each. */
class BodyReader {
  /** Is offered the bytes that come while they are asked for; true if it has taken them. */
  onBytes: ((bytes: Uint8Array) => boolean) | undefined
  readonly #body: Readable
  #ahead: Uint8Array[] = []
  #aheadBytes = 0
  #end: { readonly error?: unknown } | undefined
  #changed: (() => void) | undefined

  constructor(body: Readable) {
    this.#body = body
    passBy(body, (bytes) => this.#isOffered(bytes))
    body.on('data', (bytes: Uint8Array) => this.#take(bytes))
    body.once('end', () => this.#finish({}))
    body.on('error', (error) => this.#finish({ error }))
    body.once('close', () => this.#finish({ error: new Error('it ended in the middle') }))
  }

  /** Undefined at the end. */
  async next(): Promise<Uint8Array | undefined> {
    while (this.#ahead.length === 0 && this.#end === undefined) {
      await new Promise<void>((resolve) => (this.#changed = resolve))
    }
    if (this.#ahead.length > 0) return this.#takeAhead()
    if (this.#end !== undefined && 'error' in this.#end) throw broken(this.#end.error)
    return undefined
  }

  destroy(): void {
    this.#body.destroy()
  }

  #take(bytes: Uint8Array): void {
    if (this.#isOffered(bytes)) return
    this.#ahead.push(bytes)
    this.#aheadBytes += bytes.length
    if (this.#aheadBytes > MAX_AHEAD_BYTES) this.#body.pause()
    this.#change()
  }

  #isOffered(bytes: Uint8Array): boolean {
    return this.#changed !== undefined && this.onBytes?.(bytes) === true
  }

  #takeAhead(): Uint8Array {
    const [only] = this.#ahead
    const bytes = only !== undefined && this.#ahead.length === 1 ? only : Buffer.concat(this.#ahead)
    this.#ahead = []
    this.#aheadBytes = 0
    if (this.#body.isPaused()) this.#body.resume()
    return bytes
  }

  /** How it ended first counts. */
  #finish(end: { readonly error?: unknown }): void {
    this.#end ??= end
    this.#change()
  }

  #change(): void {
    this.#changed?.()
    this.#changed = undefined
  }
}

/**
 * Offers what comes before the stream has it: to lead one token through a stream takes Node two turns of its queue. The parser
 * calls `push`; if it did not, all would come as `data`.
 */
function passBy(body: Readable, offer: (bytes: Uint8Array) => boolean): void {
  const push = body.push.bind(body)
  body.push = (chunk: unknown, encoding?: BufferEncoding) =>
    (chunk instanceof Uint8Array && body.readableLength === 0 && offer(chunk)) || push(chunk, encoding)
}

/** Node says no more of a connection that broke than that the answer was aborted. */
function broken(error: unknown): unknown {
  const isClosed = error instanceof Error && 'code' in error && error.code === 'ECONNRESET'
  return isClosed ? new Error('the other side closed the connection', { cause: error }) : error
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

  /** What is waited for has come, and is waited for again. */
  again(): void {
    if (this.#since !== undefined) this.#since = this.#clock.monotonicNow()
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
