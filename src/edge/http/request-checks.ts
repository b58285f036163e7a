/** What is checked first of every request: a host of this server, an origin of this server, a credential. */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { isIP } from 'node:net'

export interface Refusal {
  readonly status: number
  readonly sentence: string
  readonly headers?: Readonly<Record<string, string>> | undefined
}

export interface Reachable {
  /** The address that is listened on. */
  readonly host: string
  readonly isLoopback: boolean
  readonly hasTls: boolean
  readonly publicUrl: URL | undefined
  /** Origins of pages that may come with a bearer token, and never with a cookie. */
  readonly allowedOrigins: readonly string[]
  /** Name of the cookie that a browser shows as its credential. */
  readonly cookie: string
}

/**
 * The prefix binds the cookie to this host over TLS and to no path; where that cannot hold, the port tells apart what
 * several servers of one machine set, since cookies know no ports.
 */
export function cookieName(at: {
  readonly hasTls: boolean
  readonly publicUrl: URL | undefined
  readonly port: number
}): string {
  const hasBase = (at.publicUrl?.pathname ?? '/') !== '/'
  return (at.hasTls || at.publicUrl !== undefined) && !hasBase ? '__Host-parley' : `parley-${at.port}`
}

const OF_THIS_MACHINE: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]'])

/** A name or an address and perhaps a port; nothing else of an address of the web, such as a user. */
const HOST = /^(\[[\da-f:.]+\]|[^\s:/@?#\\[\]]+)(?::\d{1,5})?$/u

/** A web page whose name was made to lead here sends its own name. */
export function refusalOfHost(headers: IncomingHttpHeaders, reachable: Reachable): Refusal | undefined {
  const [whole, name] = HOST.exec(hostOf(headers)) ?? []
  if (whole !== undefined && name !== undefined && isOurs(name, whole, reachable)) return undefined
  const sentence =
    'This server is not known by that host name. If clients reach it by this name, start it with --public-url https://NAME.'
  return { status: 421, sentence }
}

/** HTTP/2 has `:authority` for it. A request that names two different hosts counts as one without a host. */
function hostOf({ host, ':authority': authority }: IncomingHttpHeaders): string {
  if (authority === undefined) return (host ?? '').toLowerCase()
  const said = String(authority).toLowerCase()
  return host === undefined || host.toLowerCase() === said ? said : ''
}

function isOurs(name: string, whole: string, { host, isLoopback, publicUrl }: Reachable): boolean {
  if (whole === publicUrl?.host || name === host.toLowerCase()) return true
  return isLoopback ? OF_THIS_MACHINE.has(name) : isIP(name.replace(/^\[|\]$/gu, '')) !== 0
}

/** Programs send no origin; pages always do when they open a WebSocket. */
export function refusalOfOrigin(headers: IncomingHttpHeaders, reachable: Reachable): Refusal | undefined {
  const { origin } = headers
  const isAllowed = origin === undefined || isOwnOrigin(headers, reachable) || isForeign(headers, reachable)
  return isAllowed ? undefined : FOREIGN_ORIGIN
}

/** A page of another origin that the settings name. */
function isForeign({ origin }: IncomingHttpHeaders, { allowedOrigins }: Reachable): boolean {
  return origin !== undefined && allowedOrigins.includes(origin)
}

/** A browser asks whether such a page may send what it wants to send. */
export function isPreflight({ method, headers }: IncomingMessage, reachable: Reachable): boolean {
  return method === 'OPTIONS' && isForeign(headers, reachable) && refusalOfHost(headers, reachable) === undefined
}

export const PREFLIGHT = {
  'Access-Control-Allow-Methods': 'GET, POST, DELETE',
  'Access-Control-Allow-Headers':
    'Authorization, Content-Type, Acp-Connection-Id, Acp-Session-Id, Acp-Protocol-Version, Last-Event-ID',
  'Access-Control-Max-Age': '600',
} as const

/** The headers that allow a page of that origin to read the response. */
export function sharedWith(headers: IncomingHttpHeaders, reachable: Reachable): Readonly<Record<string, string>> {
  const { origin } = headers
  if (origin === undefined || !isForeign(headers, reachable)) return {}
  return {
    'Access-Control-Allow-Origin': origin,
    'Access-Control-Expose-Headers': 'Acp-Connection-Id',
    Vary: 'Origin',
  }
}

/** A browser adds the cookie to what a foreign page sends too; only the origin tells who did. */
export function refusalOfCookie(
  method: string,
  headers: IncomingHttpHeaders,
  reachable: Reachable,
): Refusal | undefined {
  // Where a page reads from its own server, browsers leave the origin out.
  const isOwnRead = (method === 'GET' || method === 'HEAD') && headers['sec-fetch-site'] === 'same-origin'
  return (isOwnRead && headers.upgrade === undefined) || isOwnOrigin(headers, reachable) ? undefined : FOREIGN_ORIGIN
}

const FOREIGN_ORIGIN: Refusal = { status: 403, sentence: 'Pages of other origins may not use this server.' }

export function isOwnOrigin(headers: IncomingHttpHeaders, { hasTls, publicUrl }: Reachable): boolean {
  const whole = hostOf(headers)
  // Behind the proxy there is TLS, so a page that came without is not ours.
  const own = whole === publicUrl?.host ? publicUrl.origin : `${hasTls ? 'https' : 'http'}://${whole}`
  return headers.origin === own
}

export interface Credential {
  /** `cookie`: a browser added it by itself. */
  readonly kind: 'bearer' | 'cookie'
  readonly token: string
}

/**
 * Beside the header, programs in a browser can only name a subprotocol. It is never echoed, and never in the address. An
 * explicit credential that is wrong is not made good by a cookie.
 */
export function credentialIn(
  { headers, url }: Pick<IncomingMessage, 'headers' | 'url'>,
  { cookie }: Reachable,
): Credential | undefined {
  if (headers.authorization !== undefined) {
    const token = /^Bearer +(\S+) *$/iu.exec(headers.authorization)?.[1] ?? ''
    return { kind: 'bearer', token }
  }
  const protocols = (headers['sec-websocket-protocol'] ?? '').split(',').map((one) => one.trim())
  const [named] = protocols.flatMap((one) => /^(?:bearer|hydra-acp-token)\.(.+)$/u.exec(one)?.[1] ?? [])
  if (named !== undefined) return { kind: 'bearer', token: named }
  const share = shareIn(url)
  const token = cookieIn(headers, share === undefined ? cookie : `${cookie}-${share}`)
  return token === undefined ? undefined : { kind: 'cookie', token }
}

/** A browser may have cookies of several share links, beside that of its device. The address says which it means. */
export function shareIn(url = ''): string | undefined {
  const share = new URLSearchParams(url.slice(url.indexOf('?') + 1)).get('share')
  if (share === null) return undefined
  // No cookie has such a name.
  return /^[\w-]+$/u.test(share) ? share : ''
}

function cookieIn({ cookie = '' }: IncomingHttpHeaders, name: string): string | undefined {
  const found = cookie
    .split(';')
    .map((one) => one.trim())
    .find((one) => one.startsWith(`${name}=`))
  return found?.slice(name.length + 1)
}

export const NO_CREDENTIAL: Refusal = {
  status: 401,
  sentence:
    "A credential is needed. Open the link that parley pair prints on the server's machine; a program sends Authorization: Bearer TOKEN, with a token from: parley token add NAME --role ROLE",
  headers: { 'WWW-Authenticate': 'Bearer' },
}

export const WRONG_CREDENTIAL: Refusal = { ...NO_CREDENTIAL, sentence: 'This credential is not valid here.' }

/** It may be right: nothing is said against it, and nothing is granted. */
export const DATABASE_AWAY: Refusal = {
  status: 503,
  sentence: 'The database of the cluster does not answer, so credentials cannot be checked. Try again in a moment.',
  headers: { 'Retry-After': '2' },
}

export function tooManyTries(seconds: number): Refusal {
  return {
    status: 429,
    sentence: `Too many wrong credentials came from this network. Try again in ${seconds} s.`,
    headers: { 'Retry-After': String(seconds) },
  }
}

export function tooManyRequests(seconds: number): Refusal {
  return {
    status: 429,
    sentence: `This credential makes too many requests. Try again in ${seconds} s.`,
    headers: { 'Retry-After': String(seconds) },
  }
}
