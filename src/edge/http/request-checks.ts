/** What a request must show before anything else is looked at: a host that is ours, an origin that is ours, a credential. */
import type { IncomingHttpHeaders } from 'node:http'
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
}

const OF_THIS_MACHINE: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]'])

/** A name or an address and perhaps a port; nothing else of an address of the web, such as a user. */
const HOST = /^(\[[\da-f:.]+\]|[^\s:/@?#\\[\]]+)(?::\d{1,5})?$/u

/** A web page whose name was made to lead here sends its own name. */
export function refusalOfHost({ host = '' }: IncomingHttpHeaders, reachable: Reachable): Refusal | undefined {
  const [whole, name] = HOST.exec(host.toLowerCase()) ?? []
  if (whole !== undefined && name !== undefined && isOurs(name, whole, reachable)) return undefined
  const sentence =
    'This server is not known by that host name. If clients reach it by this name, start it with --public-url https://NAME.'
  return { status: 421, sentence }
}

function isOurs(name: string, whole: string, { host, isLoopback, publicUrl }: Reachable): boolean {
  if (whole === publicUrl?.host || name === host.toLowerCase()) return true
  return isLoopback ? OF_THIS_MACHINE.has(name) : isIP(name.replace(/^\[|\]$/gu, '')) !== 0
}

/** Programs send no origin; pages always do when they open a WebSocket. */
export function refusalOfOrigin(
  { origin, host = '' }: IncomingHttpHeaders,
  { hasTls, publicUrl }: Reachable,
): Refusal | undefined {
  const whole = host.toLowerCase()
  // Behind the proxy there is TLS, so a page that came without is not ours.
  const own = whole === publicUrl?.host ? publicUrl.origin : `${hasTls ? 'https' : 'http'}://${whole}`
  if (origin === undefined || origin === own) return undefined
  return { status: 403, sentence: 'Pages of other origins may not use this server.' }
}

/** Beside the header, programs in a browser can only name a subprotocol. It is never echoed, and never in the address. */
export function tokenIn(headers: IncomingHttpHeaders): string | undefined {
  const bearer = /^Bearer +(\S+) *$/iu.exec(headers.authorization ?? '')?.[1]
  if (headers.authorization !== undefined) return bearer ?? ''
  const protocols = (headers['sec-websocket-protocol'] ?? '').split(',').map((one) => one.trim())
  return protocols.flatMap((one) => /^(?:bearer|hydra-acp-token)\.(.+)$/u.exec(one)?.[1] ?? [])[0]
}

export const NO_CREDENTIAL: Refusal = {
  status: 401,
  sentence:
    "An access token is needed, as Authorization: Bearer TOKEN. On the server's machine, make one with: parley token add NAME --role ROLE",
  headers: { 'WWW-Authenticate': 'Bearer' },
}

export const WRONG_CREDENTIAL: Refusal = { ...NO_CREDENTIAL, sentence: 'This access token is not valid here.' }

export function tooManyTries(seconds: number): Refusal {
  return {
    status: 429,
    sentence: `Too many wrong access tokens came from this network. Try again in ${seconds} s.`,
    headers: { 'Retry-After': String(seconds) },
  }
}
