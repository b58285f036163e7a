/** Maps every failure of a provider to one error of the catalogue, with a sentence of its own and without secrets. */
import { APICallError, TypeValidationError } from '@ai-sdk/provider'
import { fail, isParleyError, reasonOf } from '../../../errors/parley-error.ts'
import type { Provider } from '../../../ports/values/provider.ts'
import { redact, whereKey } from './provider-key.ts'
import type { EndReason } from './provider-requests.ts'

export interface FailureContext {
  readonly provider: Provider
  /** Full. */
  readonly model: string
  readonly watch: { readonly endReason: EndReason | undefined }
  /** Wall-clock time, milliseconds since 1970. */
  readonly now: number
}

/** Throws the mapped error; an error of the catalogue is thrown unchanged. */
export function failFor(error: unknown, blamed: FailureContext): never {
  const { provider, model, watch } = blamed
  const asked = { provider: provider.title, model }
  const { endReason } = watch
  if (endReason?.kind === 'cancelled') fail('MODEL_CANCELLED', asked)
  if (isParleyError(error)) throw error
  if (endReason?.kind === 'idle') fail('MODEL_IDLE', { ...asked, seconds: Math.round(endReason.ms / 1000) })
  if (endReason?.kind === 'flooded') fail('MODEL_STREAM', { ...asked, reason: 'it is longer than any answer may be' })
  const said = providerMessageIn(error)
  if (said === undefined) return fail('MODEL_STREAM', { ...asked, reason: redact(streamWords(error), provider) })
  return failAs(said, blamed)
}

/** A provider's description of its failure, in any of the usual places. */
interface ProviderMessage {
  /** Undefined: there was no response. */
  readonly status: number | undefined
  /** The provider's names for the failure. */
  readonly names: string
  readonly words: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** Undefined: the provider reported no failure; its answer itself is the failure. */
function providerMessageIn(error: unknown): ProviderMessage | undefined {
  if (APICallError.isInstance(error)) return httpMessage(error)
  const event = errorEvent(error)
  if (event === undefined) return undefined
  const { message, code, type, status } = event
  const names = [code, type, status].filter((name) => typeof name === 'string').join(' ')
  const number = typeof code === 'number' ? code : STATUS_OF_NAME.find(([pattern]) => pattern.test(names))?.[1]
  return { status: number ?? 500, names, words: message, headers: {}, body: message }
}

function httpMessage(error: APICallError): ProviderMessage | undefined {
  const { statusCode: status, responseHeaders: headers = {}, responseBody: body = '', message } = error
  // The answer had begun, so the connection broke.
  if (status !== undefined && status < 300 && error.data === undefined) return undefined
  const names = [...body.matchAll(/"(?:type|code|status|reason|quotaId)"\s*:\s*"([^"]+)"/gu)].map(([, name]) => name)
  if (status === undefined) return { status, headers, body, ...networkMessage(error.cause ?? error) }
  // For a failure at the beginning of an answer the package invents a status code.
  const named = STATUS_OF_NAME.find(([pattern]) => pattern.test(names.join(' ')))?.[1]
  const isNamed = status === 500 && named !== undefined && named !== 400
  return { status: isNamed ? named : status, names: names.join(' '), words: textIn(message, body), headers, body }
}

/** The title of an HTML page, if it says something. */
export function titleIn(page: string): string | undefined {
  const title = /<title[^>]*>([^<]*)<\/title>/iu.exec(page)?.[1]?.trim()
  return title === '' ? undefined : title
}

/** A proxy answers with an HTML page: its title says more than its status. */
function textIn(message: string, body: string): string {
  return titleIn(body) ?? detailIn(body) ?? plainIn(body) ?? (message === '' ? 'it gave no reason' : message)
}

/** `{"error":"…"}`, `{"error":{"message":"…"}}`, `{"message":"…"}`, `{"detail":"…"}`: not every package looks for these. */
function detailIn(body: string): string | undefined {
  try {
    const { error, message, detail } = JSON.parse(body) as Readonly<Record<string, unknown>>
    const inner = typeof error === 'object' && error !== null && 'message' in error ? error.message : undefined
    return [error, inner, message, detail].find((one): one is string => typeof one === 'string' && one !== '')
  } catch {
    return undefined
  }
}

/** Plain text: no HTML page and no JSON. */
function plainIn(body: string): string | undefined {
  const words = body.trim()
  return words === '' || /^[<{[]/u.test(words) ? undefined : words
}

/** `{"error":"out of memory"}` in the middle of a stream says more than "invalid chunk". */
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

/** Error names in streams and the HTTP status that they stand for. */
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

function failAs(said: ProviderMessage, blamed: FailureContext): never {
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

/** Google uses one code for limits per minute and per day; they differ only in the name of the quota. */
function isPoor(text: string, names: string): boolean {
  return /RESOURCE_EXHAUSTED/u.test(names) ? /PerDay/u.test(names) : POOR.test(text)
}

const NETWORK: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'no server listens there',
  ECONNRESET: 'the connection was closed',
  EPIPE: 'the connection was closed',
  ENOTFOUND: 'its name is not known',
  EAI_AGAIN: 'its name cannot be looked up',
  ETIMEDOUT: 'it does not answer',
  EHOSTUNREACH: 'there is no way to it',
  ENETUNREACH: 'there is no network',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'it vouches for itself (a self-signed certificate)',
  SELF_SIGNED_CERT_IN_CHAIN: 'no known authority vouches for it (a self-signed certificate in its chain)',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'no known authority vouches for its certificate',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'no known authority vouches for its certificate',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  CERT_NOT_YET_VALID: 'its certificate is not valid yet',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is of another host',
  ERR_SSL_WRONG_VERSION_NUMBER: 'what listens there does not speak https',
  ERR_SSL_PACKET_LENGTH_TOO_LONG: 'what listens there does not speak https',
  HTTPParserError: 'what listens there does not speak http',
}

/** Nothing listens there, or another program does: waiting helps only if the server is just starting. */
const ABSENT =
  /^(?:ECONNREFUSED|ENOTFOUND|ERR_SSL_WRONG_VERSION_NUMBER|ERR_SSL_PACKET_LENGTH_TOO_LONG|HTTPParserError)$/u
/** Waiting does not mend a certificate. */
const UNTRUSTED = /CERT|UNABLE_TO_VERIFY/u

function rowOfNetwork(code: string): 'MODEL_ABSENT' | 'MODEL_CERTIFICATE' | 'MODEL_NETWORK' {
  if (ABSENT.test(code)) return 'MODEL_ABSENT'
  return UNTRUSTED.test(code) ? 'MODEL_CERTIFICATE' : 'MODEL_NETWORK'
}

/** How Node's parser of HTTP names each thing that is none. */
const UNREADABLE = /^HPE_/u

/** Addresses are left out: a URL may contain a key. */
function networkMessage(error: unknown): Pick<ProviderMessage, 'names' | 'words'> {
  for (let one = error; one instanceof Error; one = one.cause) {
    const { code } = one as { code?: unknown }
    if (typeof code !== 'string') continue
    const names = UNREADABLE.test(code) ? 'HTTPParserError' : isNoTls(code, one) ? 'ERR_SSL_WRONG_VERSION_NUMBER' : code
    return { names, words: NETWORK[names] ?? names }
  }
  return { names: '', words: reasonOf(error) }
}

/** While the request is being written, OpenSSL's error is only in the message. */
function isNoTls(code: string, { message }: Error): boolean {
  return code === 'EPROTO' && /wrong version number|packet length too long/u.test(message)
}

/** How long a provider asks to wait before the next request, in any of the usual headers and fields. */

interface RetryHints {
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

const SECOND_MS = 1000
/** No provider asks for longer; a larger number is a time since another epoch. */
const MAX_RETRY_AFTER_MS = 24 * 60 * 60 * SECOND_MS

/** Undefined if the provider does not say. `now` is wall-clock time. */
export function retryAfter({ headers, body }: RetryHints, now: number): number | undefined {
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
    if (ms !== undefined) return Math.min(Math.max(0, Math.round(ms)), MAX_RETRY_AFTER_MS)
  }
  return undefined
}

/** Several limits may be reported at once: the exhausted one counts, and of several the last one to be free again. */
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
  if (seconds !== undefined) return seconds * SECOND_MS
  const moment = Date.parse(text)
  return Number.isNaN(moment) ? undefined : moment - now
}

/** A moment in seconds or milliseconds since 1970, or a number of seconds from now. */
function momentOrSeconds(text: string | undefined, now: number): number | undefined {
  const value = number(text)
  if (value === undefined) return duration(text) ?? secondsOrDate(text, now)
  if (value > 1e12) return value - now
  return value > 1e9 ? value * SECOND_MS - now : value * SECOND_MS
}

const UNITS: Readonly<Record<string, number>> = { h: 3600 * SECOND_MS, m: 60 * SECOND_MS, s: SECOND_MS, ms: 1 }

/** `6m0s`, `1.5s`, `20ms`. */
function duration(text: string | undefined): number | undefined {
  if (text === undefined || !/^(?:\d+(?:\.\d+)?(?:ms|[hms]))+$/iu.test(text)) return undefined
  const parts = [...text.toLowerCase().matchAll(/(\d+(?:\.\d+)?)(ms|[hms])/gu)]
  return parts.reduce((sum, [, amount, unit = '']) => sum + Number(amount) * (UNITS[unit] ?? 0), 0)
}
