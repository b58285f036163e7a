/** Whatever goes wrong with a provider becomes one row of the catalogue, with its own sentence and without secrets. */
import { APICallError, TypeValidationError } from '@ai-sdk/provider'
import { fail, isParleyError, reasonOf } from '../../../errors/parley-error.ts'
import { type Provider, whereKey } from '../providers/provider.ts'
import { redact } from './transport.ts'
import type { Verdict } from '../stream/watch.ts'

export interface Blamed {
  readonly provider: Provider
  /** Full. */
  readonly model: string
  readonly watch: { readonly verdict: Verdict | undefined }
  /** By the wall. */
  readonly now: number
}

/** Throws the row; what was a row already stays it. */
export function failFor(error: unknown, blamed: Blamed): never {
  const { provider, model, watch } = blamed
  const asked = { provider: provider.title, model }
  const { verdict } = watch
  if (verdict?.kind === 'cancelled') fail('MODEL_CANCELLED', asked)
  if (isParleyError(error)) throw error
  if (verdict?.kind === 'idle') fail('MODEL_IDLE', { ...asked, seconds: Math.round(verdict.ms / 1000) })
  if (verdict?.kind === 'flooded') fail('MODEL_STREAM', { ...asked, reason: 'it is longer than any answer may be' })
  const said = saidIn(error)
  if (said === undefined) return fail('MODEL_STREAM', { ...asked, reason: redact(streamWords(error), provider) })
  return failAs(said, blamed)
}

/** What a provider said about its failure, wherever it said it. */
interface Said {
  /** Undefined: nobody answered. */
  readonly status: number | undefined
  /** The names that providers give to failures. */
  readonly names: string
  readonly words: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** Undefined: the provider said nothing of a failure, its answer is one. */
function saidIn(error: unknown): Said | undefined {
  if (APICallError.isInstance(error)) return saidByHttp(error)
  const event = errorEvent(error)
  if (event === undefined) return undefined
  const { message, code, type, status } = event
  const names = [code, type, status].filter((name) => typeof name === 'string').join(' ')
  const number = typeof code === 'number' ? code : STATUS_OF_NAME.find(([pattern]) => pattern.test(names))?.[1]
  return { status: number ?? 500, names, words: message, headers: {}, body: message }
}

function saidByHttp(error: APICallError): Said | undefined {
  const { statusCode: status, responseHeaders: headers = {}, responseBody: body = '', message } = error
  // An answer had begun: the connection broke under it.
  if (status !== undefined && status < 300 && error.data === undefined) return undefined
  const names = [...body.matchAll(/"(?:type|code|status|reason|quotaId)"\s*:\s*"([^"]+)"/gu)].map(([, name]) => name)
  if (status === undefined) return { status, headers, body, ...saidByNetwork(error.cause ?? error) }
  // A package gives its own number to a failure that an answer begins with.
  const named = STATUS_OF_NAME.find(([pattern]) => pattern.test(names.join(' ')))?.[1]
  const isNamed = status === 500 && named !== undefined && named !== 400
  return { status: isNamed ? named : status, names: names.join(' '), words: wordsIn(message, body), headers, body }
}

/** Of a page, if it has one that says something. */
export function titleIn(page: string): string | undefined {
  const title = /<title[^>]*>([^<]*)<\/title>/iu.exec(page)?.[1]?.trim()
  return title === '' ? undefined : title
}

/** A proxy answers with a page: its title says more than its status. */
function wordsIn(message: string, body: string): string {
  return titleIn(body) ?? detailIn(body) ?? plainIn(body) ?? (message === '' ? 'it gave no reason' : message)
}

/** `{"error":"…"}`, `{"error":{"message":"…"}}`, `{"message":"…"}`, `{"detail":"…"}`: what not every package looks for. */
function detailIn(body: string): string | undefined {
  try {
    const { error, message, detail } = JSON.parse(body) as Readonly<Record<string, unknown>>
    const inner = typeof error === 'object' && error !== null && 'message' in error ? error.message : undefined
    return [error, inner, message, detail].find((one): one is string => typeof one === 'string' && one !== '')
  } catch {
    return undefined
  }
}

/** Words that stand there as they are: no page, and nothing that was meant for programs. */
function plainIn(body: string): string | undefined {
  const words = body.trim()
  return words === '' || /^[<{[]/u.test(words) ? undefined : words
}

/** `{"error":"out of memory"}` in the middle says more than that it is no chunk. */
function streamWords(error: unknown): string {
  const value = TypeValidationError.isInstance(error) ? error.value : undefined
  const said = value === undefined ? undefined : detailIn(JSON.stringify(value))
  return (said ?? reasonOf(error)).replace(/[\s.]+$/u, '')
}

interface ErrorEvent {
  readonly message: string
  readonly code?: unknown
  readonly type?: unknown
  readonly status?: unknown
}

function errorEvent(error: unknown): ErrorEvent | undefined {
  if (error instanceof Error || typeof error !== 'object' || error === null) return undefined
  return 'message' in error && typeof error.message === 'string' ? (error as ErrorEvent) : undefined
}

/** How streams name what HTTP has numbers for. */
const STATUS_OF_NAME: readonly (readonly [RegExp, number])[] = [
  [/overloaded|unavailable/iu, 529],
  [/rate.?limit|resource_exhausted/iu, 429],
  [/authentication|invalid_api_key/iu, 401],
  [/invalid_request|invalid_argument/iu, 400],
]

const LONG =
  /context.?(?:length|window|size)|maximum context|prompt is too long|input is too long|too many (?:input )?tokens|input token count|reduce the length|request_too_large/iu
const POOR =
  /insufficient.?(?:quota|balance|credit|funds)|credit balance|billing_(?:hard_)?limit|exceeded your current quota.*billing|payment/iu
const KEYLESS = /api.?key (?:is )?(?:not valid|invalid)|invalid.?(?:x-)?api.?key|incorrect api key|API_KEY_INVALID/iu
const MODEL_GONE = /model/iu

function failAs(said: Said, blamed: Blamed): never {
  const { provider, model, now } = blamed
  const asked = { provider: provider.title, model }
  const { status, names, words } = said
  const text = `${names} ${words}`
  if (status === undefined) return fail(rowOfNetwork(names), { ...asked, reason: redact(words, provider) })
  if (status === 413 || (status < 429 && status >= 400 && LONG.test(text))) return fail('MODEL_CONTEXT', asked)
  if (status === 401 || (status < 500 && KEYLESS.test(text)))
    return fail('MODEL_KEY', { ...asked, variable: whereKey(provider) })
  if (status === 402 || (status < 500 && isPoor(text, names))) return fail('MODEL_QUOTA', asked)
  const wait = retryAfter(said, now)
  const later = wait === undefined ? asked : { ...asked, retryAfterMs: wait }
  if (status === 429) return fail('MODEL_RATE_LIMIT', later)
  if (status >= 500 || status === 408 || status === 425) return fail('MODEL_OVERLOADED', later)
  if (status === 404 && MODEL_GONE.test(text))
    return fail('MODEL_UNKNOWN', { model, reason: `${provider.title} does not have it, or not for this key` })
  return fail('MODEL_REFUSED', { ...asked, words: `${redact(words, provider)} (HTTP ${status})` })
}

/** Google says the same of a minute and of a day; only the name of the quota tells them apart. */
function isPoor(text: string, names: string): boolean {
  return /RESOURCE_EXHAUSTED/u.test(names) ? /PerDay/u.test(names) : POOR.test(text)
}

const NETWORK: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nobody listens there',
  ECONNRESET: 'the connection was closed',
  UND_ERR_SOCKET: 'the connection was closed',
  ENOTFOUND: 'its name is not known',
  EAI_AGAIN: 'its name cannot be looked up',
  ETIMEDOUT: 'it does not answer',
  UND_ERR_CONNECT_TIMEOUT: 'it does not answer',
  EHOSTUNREACH: 'there is no way to it',
  ENETUNREACH: 'there is no network',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'it vouches for itself (a self-signed certificate)',
  SELF_SIGNED_CERT_IN_CHAIN: 'nobody known vouches for it (a self-signed certificate in its chain)',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'nobody known vouches for its certificate',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'nobody known vouches for its certificate',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  CERT_NOT_YET_VALID: 'its certificate is not valid yet',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is of another host',
  ERR_SSL_WRONG_VERSION_NUMBER: 'what listens there does not speak https',
  ERR_SSL_PACKET_LENGTH_TOO_LONG: 'what listens there does not speak https',
  HTTPParserError: 'what listens there does not speak http',
}

/** Nobody is there at all, or somebody else: waiting helps only where it is just being started. */
const ABSENT =
  /^(?:ECONNREFUSED|ENOTFOUND|ERR_SSL_WRONG_VERSION_NUMBER|ERR_SSL_PACKET_LENGTH_TOO_LONG|HTTPParserError)$/u
/** No waiting makes a certificate a better one. */
const UNTRUSTED = /CERT|UNABLE_TO_VERIFY/u

function rowOfNetwork(code: string): 'MODEL_ABSENT' | 'MODEL_CERTIFICATE' | 'MODEL_NETWORK' {
  if (ABSENT.test(code)) return 'MODEL_ABSENT'
  return UNTRUSTED.test(code) ? 'MODEL_CERTIFICATE' : 'MODEL_NETWORK'
}

/** It knows its failures by their words alone. */
const PARSER = /^HTTPParserError$/u

/** Addresses stay out: a URL may hold a key. */
function saidByNetwork(error: unknown): Pick<Said, 'names' | 'words'> {
  for (let one = error; one instanceof Error; one = one.cause) {
    const { code = PARSER.test(one.name) ? one.name : undefined } = one as { code?: unknown }
    if (typeof code === 'string') return { names: code, words: NETWORK[code] ?? code }
  }
  return { names: '', words: reasonOf(error) }
}

/** How long a provider wants to be left alone, in whichever way it says so. */

interface Told {
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

const SECOND = 1000
/** Nobody means more; what says so counts from another year. */
const MOST_MS = 24 * 60 * 60 * SECOND

/** Undefined where it does not say. `now` is the wall's. */
export function retryAfter({ headers, body }: Told, now: number): number | undefined {
  const found = [
    () => number(headers['retry-after-ms']),
    () => secondsOrDate(headers['retry-after'], now),
    () => used(headers, now),
    () => momentOrSeconds(headers['x-ratelimit-reset'], now),
    () => duration(/"retryDelay"\s*:\s*"([^"]+)"/u.exec(body)?.[1]),
    () => duration(/try again in ((?:\d+(?:\.\d+)?(?:ms|[hms]))+)/iu.exec(body)?.[1]),
  ]
  for (const look of found) {
    const ms = look()
    if (ms !== undefined) return Math.min(Math.max(0, Math.round(ms)), MOST_MS)
  }
  return undefined
}

/** Several limits are told at once: the one that is used up counts, and of several the last to be free again. */
function used(headers: Readonly<Record<string, string>>, now: number): number | undefined {
  const waits = Object.entries(headers).flatMap(([name, value]) => {
    const match = /^(x-ratelimit|anthropic-ratelimit)-(?:(?:remaining-(\w+))|(?:([\w-]+)-remaining))$/u.exec(name)
    if (match === null || Number(value) > 0) return []
    const [, family, openai, anthropic] = match
    const reset = openai === undefined ? headers[`${family}-${anthropic}-reset`] : headers[`${family}-reset-${openai}`]
    return [duration(reset) ?? secondsOrDate(reset, now)].filter((ms) => ms !== undefined)
  })
  return waits.length === 0 ? undefined : Math.max(...waits)
}

function number(text: string | undefined): number | undefined {
  return text === undefined || text.trim() === '' || !Number.isFinite(Number(text)) ? undefined : Number(text)
}

function secondsOrDate(text: string | undefined, now: number): number | undefined {
  if (text === undefined) return undefined
  const seconds = number(text)
  if (seconds !== undefined) return seconds * SECOND
  const moment = Date.parse(text)
  return Number.isNaN(moment) ? undefined : moment - now
}

/** A moment in seconds or milliseconds since 1970, or a number of seconds from now. */
function momentOrSeconds(text: string | undefined, now: number): number | undefined {
  const value = number(text)
  if (value === undefined) return duration(text) ?? secondsOrDate(text, now)
  if (value > 1e12) return value - now
  return value > 1e9 ? value * SECOND - now : value * SECOND
}

const UNITS: Readonly<Record<string, number>> = { h: 3600 * SECOND, m: 60 * SECOND, s: SECOND, ms: 1 }

/** `6m0s`, `1.5s`, `20ms`. */
function duration(text: string | undefined): number | undefined {
  if (text === undefined || !/^(?:\d+(?:\.\d+)?(?:ms|[hms]))+$/iu.test(text)) return undefined
  const parts = [...text.toLowerCase().matchAll(/(\d+(?:\.\d+)?)(ms|[hms])/gu)]
  return parts.reduce((sum, [, amount, unit = '']) => sum + Number(amount) * (UNITS[unit] ?? 0), 0)
}
