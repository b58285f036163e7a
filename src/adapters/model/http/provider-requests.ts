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
import { AnswerParts } from './answer-parts.ts'

export interface ProviderTransport {
  /** A `fetch` for the provider packages. A request is identified by its abort signal. */
  readonly fetch: typeof globalThis.fetch
  /** Requests with the signal of this watch are watched by it. */
  watch(watch: RequestWatch): void
  close(): Promise<void>
}

/** A local model may read a long prompt for many minutes; the watch has its own limits. */
const LONG_TIMEOUTS = { headersTimeout: 0, bodyTimeout: 0, connect: { timeout: 10_000 } }

export function openProviderTransport(): ProviderTransport {
  const agent = new Agent(LONG_TIMEOUTS)
  const watches = new WeakMap<AbortSignal, RequestWatch>()
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
  watched(body: Readable): ReadableStream<Uint8Array> {
    const reader = new BytesReader(body)
    const limits = new Limits()
    let limitMs = this.#timeouts.firstMs
    const read = () => reader.next()
    /** The next bytes for the package; undefined at the end. */
    const next = async (): Promise<Uint8Array | undefined> => {
      const value = await this.#bytes.during(limitMs, read)
      limitMs = this.#timeouts.nextMs
      if (value === undefined) return undefined
      if (limits.isPassedBy(value)) this.end({ kind: 'flooded' })
      const given = await this.parts.give(value)
      return given.length > 0 ? given : next()
    }
    return new ReadableStream<Uint8Array>({
      pull: async (controller) => {
        const bytes = await next()
        if (bytes !== undefined) return controller.enqueue(bytes)
        const rest = this.parts.rest()
        if (rest.length > 0) controller.enqueue(rest)
        controller.close()
      },
      // A pending read ends with the request.
      cancel: () => void body.destroy(),
    })
  }
}

/** Bytes that came before they were asked for, from which on a body is not read on. */
const MAX_AHEAD_BYTES = 64 * 1024

/** Reads a body as its bytes come. A stream's own iterator takes several turns of the event loop for each. */
class BytesReader {
  readonly #body: Readable
  #ahead: Uint8Array[] = []
  #aheadBytes = 0
  #end: { readonly error?: unknown } | undefined
  #changed = (): void => {}

  constructor(body: Readable) {
    this.#body = body
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
    if (this.#end !== undefined && 'error' in this.#end) throw this.#end.error
    return undefined
  }

  #take(bytes: Uint8Array): void {
    this.#ahead.push(bytes)
    this.#aheadBytes += bytes.length
    if (this.#aheadBytes > MAX_AHEAD_BYTES) this.#body.pause()
    this.#changed()
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
    this.#changed()
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
