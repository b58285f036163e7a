/** The way to a provider: patient with its headers, never led elsewhere, and watched. */
import { STATUS_CODES } from 'node:http'
import { Agent, type Dispatcher, request, fetch as undiciFetch } from 'undici'
import type { Watch } from '../stream/watch.ts'
import type { Provider } from '../providers/provider.ts'
import { type Readable, pipeline } from 'node:stream'
import { constants, createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'

export interface Transport {
  /** For the packages: a request is known by its signal. */
  readonly fetch: typeof globalThis.fetch
  /** Requests with the signal of this watch are looked after by it. */
  watch(watch: Watch): void
  close(): Promise<void>
}

/** A model on this machine may read a long prompt for many minutes; the watch has its own limits. */
const PATIENT = { headersTimeout: 0, bodyTimeout: 0, connect: { timeout: 10_000 } }

export function openTransport(): Transport {
  const agent = new Agent(PATIENT)
  const watches = new WeakMap<AbortSignal, Watch>()
  return {
    async fetch(url, init) {
      const watch = init?.signal ? watches.get(init.signal) : undefined
      // Keys travel in headers that would go along: a provider that has moved is a refusal, said in words.
      const sent = { ...(init as object), dispatcher: agent, redirect: 'manual' } as const
      if (watch === undefined) return (await undiciFetch(url as string, sent)) as unknown as Response
      const { statusCode, headers, body } = await watch.first(() => send(agent, url as string, init))
      const isEmpty = WITHOUT_BODY.has(statusCode)
      if (isEmpty) await body.dump()
      const head = { status: statusCode, statusText: STATUS_CODES[statusCode] ?? '', headers: headersOf(headers) }
      return new Response(isEmpty ? null : watch.watched(unpacked(body, headers['content-encoding'])), head)
    },
    watch: (watch) => void watches.set(watch.signal, watch),
    close: () => agent.destroy(),
  }
}

/** A Response may not have a body with these. */
const WITHOUT_BODY: ReadonlySet<number> = new Set([101, 204, 205, 304])

/** As `fetch` does it, without its streams: it fails in the words of `fetch`, which the packages know. */
async function send(dispatcher: Agent, url: string, init: RequestInit = {}): Promise<Dispatcher.ResponseData> {
  const { method = 'GET', body, headers, signal } = init
  try {
    return await request(url, {
      dispatcher,
      method,
      // To pack words one by one costs both sides more than it saves.
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

const MOST = 400

export function redact(words: string, { key, headers }: Pick<Provider, 'key' | 'headers'>): string {
  let clean = words
  for (const secret of [key, ...Object.values(headers)]) {
    if (secret !== undefined && secret.length > 3) clean = clean.replaceAll(secret, '…')
  }
  clean = clean
    .replaceAll(/(https?:\/\/)[^\s/@]*@/gu, '$1')
    .replaceAll(/(https?:\/\/[^\s?"']*)\?[^\s"']*/gu, '$1')
    .replaceAll(/\b(?:sk|pk|rk|gsk|xai|key|AIza)[-_]?[-\w*]{12,}/gu, '…')
    .replaceAll(/\b(Bearer)\s+\S+/giu, '$1 …')
    .replaceAll(/[\p{Cc}\s]+/gu, ' ')
    .trim()
  return clean.length > MOST ? `${clean.slice(0, MOST)}…` : clean
}

/** Words are passed on as they come, not once a block of them is full. */
const eager = { flush: constants.Z_SYNC_FLUSH }

const unpackers: ReadonlyMap<string, () => NodeJS.ReadWriteStream> = new Map([
  ['gzip', () => createGunzip(eager)],
  ['x-gzip', () => createGunzip(eager)],
  ['deflate', () => createInflate(eager)],
  ['br', () => createBrotliDecompress({ flush: constants.BROTLI_OPERATION_FLUSH })],
])

/** What its header says was done to it is undone, last first; what nobody can undo is left as it is. */
export function unpacked(body: Readable, encoding: string | readonly string[] | undefined): Readable {
  const packers = [encoding ?? []].flat().join(',').split(',')
  return packers.reduceRight((packed, name) => {
    const unpack = unpackers.get(name.trim().toLowerCase())
    // What goes wrong is told to whoever reads the result.
    return unpack === undefined ? packed : (pipeline(packed, unpack(), () => undefined) as unknown as Readable)
  }, body)
}
