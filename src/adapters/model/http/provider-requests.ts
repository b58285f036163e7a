/** HTTP requests to a provider: long header timeouts, no redirects, and watched for silence. */
import { STATUS_CODES } from 'node:http'
import { Agent, type Dispatcher, request, fetch as undiciFetch } from 'undici'
import type { Watch } from '../stream/watch.ts'
import { type Readable, pipeline } from 'node:stream'
import { constants, createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'

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
