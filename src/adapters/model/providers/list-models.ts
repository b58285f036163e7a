/** Asks a provider for its list of models. Everything in the answer that has not the shape of such a list is ignored. */
import { withTimeout } from '../../../async/with-timeout.ts'
import { reasonOf } from '../../../errors/parley-error.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { Signal } from '../../../ports/values/signal.ts'
import { redact } from '../http/provider-key.ts'
import type { KnownModel, Provider } from '../../../ports/values/provider.ts'
import { connect } from 'node:net'

interface Listing {
  readonly fetch: typeof globalThis.fetch
  readonly clock: Clock
  readonly limitMs: number
  readonly signal: Signal
}

export type ModelsFound =
  | { readonly models: readonly KnownModel[] }
  /** `isThere`: a server answers, but not with a list. */
  | { readonly reason: string; readonly isThere?: boolean }

/** The reason shown for a local server that is not running. */
export const NOTHING_LISTENS = 'No server listens there. Start it to use it.'

const MAX_LIST_BYTES = 16 * 1024 * 1024

/** Status codes of servers that work but have no list of models. */
const STATUS_WITHOUT_LIST: ReadonlySet<number> = new Set([404, 405, 501])

/** Never throws. */
export async function listModels(provider: Provider, { fetch, clock, limitMs, signal }: Listing): Promise<ModelsFound> {
  const late = new Error('it did not answer in time')
  try {
    const limits = { clock, ms: limitMs, signals: [signal], timedOut: () => late }
    return await withTimeout((own) => fetchList(provider, fetch, own), limits)
  } catch (error) {
    return { reason: error === late || signal.aborted ? silent(provider) : unreachable(provider, error) }
  }
}

async function fetchList(provider: Provider, fetch: Listing['fetch'], signal: Signal): Promise<ModelsFound> {
  const { url, headers } = requestOf(provider)
  const response = await fetch(url, { headers, signal: signal as AbortSignal })
  if (!response.ok) {
    await response.body?.cancel()
    return { reason: refusal(provider, response.status), isThere: STATUS_WITHOUT_LIST.has(response.status) }
  }
  const models = modelsIn(JSON.parse(await textIn(response)), provider)
  return models.length === 0 ? { reason: nothing(provider) } : { models }
}

function requestOf({ kind, url, key, headers }: Provider): {
  readonly url: string
  readonly headers: Record<string, string>
} {
  switch (kind) {
    case 'openai':
      return { url: `${url}/models`, headers: { ...(key && { authorization: `Bearer ${key}` }), ...headers } }
    case 'anthropic': {
      const own = { 'anthropic-version': '2023-06-01', ...(key && { 'x-api-key': key }) }
      return { url: `${url}/models?limit=1000`, headers: { ...own, ...headers } }
    }
    case 'google':
      return { url: `${url}/models?pageSize=1000`, headers: { ...(key && { 'x-goog-api-key': key }), ...headers } }
  }
}

async function textIn(response: Response): Promise<string> {
  const pieces: Uint8Array[] = []
  let size = 0
  for await (const piece of response.body ?? []) {
    size += piece.length
    if (size > MAX_LIST_BYTES) throw new Error('its list is too long')
    pieces.push(piece)
  }
  return Buffer.concat(pieces).toString('utf8')
}

type ListRow = Readonly<Record<string, unknown>>

function modelsIn(body: unknown, { kind }: Provider): readonly KnownModel[] {
  if (typeof body !== 'object' || body === null) return []
  const { data, models } = body as ListRow
  const rows = kind === 'google' ? models : data
  if (!Array.isArray(rows)) return []
  return rows.flatMap((row: unknown) => (typeof row === 'object' && row !== null ? modelIn(row as ListRow, kind) : []))
}

/** Such lists also contain models that do not generate text. */
const NOT_GENERATING =
  /embed|rerank|whisper|\btts\b|moderation|dall-e|imagen|\bveo\b|transcribe|realtime|image-\d|sora/iu

function modelIn(row: ListRow, kind: Provider['kind']): readonly KnownModel[] {
  const id = kind === 'google' ? String(row['name']).replace(/^models\//u, '') : row['id']
  if (typeof id !== 'string' || id === '' || NOT_GENERATING.test(id)) return []
  if (kind === 'google' && !namesIn(row['supportedGenerationMethods']).includes('generateContent')) return []
  const window = [row['context_length'], row['max_model_len'], row['context_window'], row['inputTokenLimit']].find(
    isCount,
  )
  const input = (row['architecture'] as ListRow | undefined)?.['input_modalities']
  const price = priceIn(row['pricing'])
  return [
    {
      name: id,
      ...(window !== undefined && { contextWindow: window }),
      ...(Array.isArray(input) && { images: input.includes('image') }),
      ...(price !== undefined && { price }),
    },
  ]
}

function namesIn(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0
}

const TOKENS_PER_MILLION = 1_000_000

/** OpenRouter gives dollars per token, as strings. */
function priceIn(pricing: unknown): KnownModel['price'] {
  if (typeof pricing !== 'object' || pricing === null) return undefined
  const of = (name: string) => Number((pricing as ListRow)[name] ?? Number.NaN) * TOKENS_PER_MILLION
  const [input, output, read, write] = [of('prompt'), of('completion'), of('input_cache_read'), of('input_cache_write')]
  if (!(input >= 0) || !(output >= 0)) return undefined
  const or = (value: number) => (value >= 0 ? value : input)
  return { currency: 'USD', input, output, cacheRead: or(read), cacheWrite: or(write) }
}

function refusal(provider: Provider, status: number): string {
  if (status === 401 || status === 403)
    return `It refused the key (HTTP ${status}). Check ${provider.keyNames[0] ?? 'it'}.`
  return provider.isLocal
    ? `What listens there is no model server (HTTP ${status}).`
    : `It answered with HTTP ${status}.`
}

function nothing(provider: Provider): string {
  return provider.isLocal ? 'What listens there offers no model.' : 'It answered without a list of models.'
}

function silent(provider: Provider): string {
  return provider.isLocal ? 'What listens there did not answer in time.' : 'It did not answer in time.'
}

function unreachable(provider: Provider, error: unknown): string {
  if (provider.isLocal && codeOf(error) === 'ECONNREFUSED') return NOTHING_LISTENS
  if (error instanceof SyntaxError) return 'What listens there is no model server.'
  return `It cannot be reached: ${codeOf(error) ?? redact(reasonOf(error), provider)}.`
}

function codeOf(error: unknown): string | undefined {
  for (let one = error; one instanceof Error; one = one.cause) {
    const { code } = one as { code?: unknown }
    if (typeof code === 'string') return code
  }
  return undefined
}

/** True if the connection was refused; false if a server accepted it, or if the time was too short to know. */
export function isPortClosed(url: string, limitMs: number, clock: Clock): Promise<boolean> {
  const { hostname, port, protocol } = new URL(url)
  const host = hostname.replace(/^\[|\]$/gu, '')
  return new Promise((resolve) => {
    const socket = connect({ host, port: Number(port) || (protocol === 'https:' ? 443 : 80) })
    const timer = clock.setTimer(limitMs, () => over(false))
    function over(deaf: boolean): void {
      timer.cancel()
      socket.destroy()
      resolve(deaf)
    }
    socket.once('connect', () => over(false))
    socket.on('error', (error: NodeJS.ErrnoException) => over(error.code === 'ECONNREFUSED'))
  })
}
