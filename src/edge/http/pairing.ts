/**
 * `POST /pair`: a client with the code of a pairing link becomes a device, and one with that of a share link may read its
 * session. Our page gets a cookie, a program a token. `POST /leave`: a device goes. `POST /device`: whether the server knows the
 * browser that asks. Any other request of a browser that it does not know leaves an error in the console.
 */
import type { TokenHolder } from '../../credentials/access-tokens.ts'
import type { Paired } from '../../credentials/devices.ts'
import type { ShareLink } from '../../credentials/share-links.ts'
import { isParleyError } from '../../errors/parley-error.ts'
import { fieldsOf } from '../../rpc/json-rpc.ts'
import { BodyTooLong, type Exchange } from './exchange.ts'
import { type Refusal, credentialIn, isOwnOrigin, shareIn } from './request-checks.ts'
import type { Route } from './routes.ts'

/** The credentials of the server, as far as requests change them. */
export interface DeviceDesk {
  /** Throws PAIRING_CODE_INVALID, TOKENS_UNUSABLE and, as the others, CLUSTER_UNREACHABLE. */
  pair(code: string, name: string): Promise<Paired>
  /** Undefined where no share link has this code. */
  shareOf(code: string): Promise<ShareLink | undefined>
  /** Removes the device of this holder. Throws TOKENS_UNUSABLE. */
  leave(holder: TokenHolder): Promise<void>
  now(): number
}

const MAX_BYTES = 4_096
/** The longest time that browsers keep a cookie. The server removes a device that is not used for 90 days, whatever its cookie says. */
const COOKIE_SECONDS = 400 * 24 * 60 * 60

export function pairingRoutes(desk: DeviceDesk): readonly Route[] {
  const endpoint = new PairingEndpoint(desk)
  return [
    { path: '/pair', methods: ['POST'], access: 'public', handle: (exchange) => endpoint.pair(exchange) },
    { path: '/device', methods: ['POST'], access: 'optional', handle: (exchange) => endpoint.device(exchange) },
    { path: '/leave', methods: ['POST'], access: 'credential', handle: (exchange) => endpoint.leave(exchange) },
  ]
}

class PairingEndpoint {
  readonly #desk: DeviceDesk

  constructor(desk: DeviceDesk) {
    this.#desk = desk
  }

  /** Needs no credential: the code is one. */
  async pair(exchange: Exchange): Promise<void> {
    if (!/^application\/json *(?:;|$)/iu.test(exchange.header('content-type') ?? '')) return exchange.refuse(NOT_JSON)
    const body = await bodyOf(exchange)
    if (body === undefined) return exchange.refuse(TOO_LONG)
    const { code, name } = fieldsIn(body)
    if (typeof code !== 'string') return exchange.refuse(MALFORMED)
    try {
      if (!(await this.#share(exchange, code)))
        await this.#pairDevice(exchange, { code, name: typeof name === 'string' ? name : '' })
    } catch (error) {
      if (!isParleyError(error, 'PAIRING_CODE_INVALID')) throw error
      // A right code is accepted even after wrong ones from the same network.
      exchange.refuseWrong({ status: 401, sentence: error.message })
    }
  }

  /** Deletes a cookie that is no longer valid, because each further request with it would count as a wrong attempt of its network. */
  device(exchange: Exchange): void {
    const { holder, request, reachable } = exchange
    if (holder !== undefined || credentialIn(request, reachable)?.kind !== 'cookie')
      return answer(exchange, { known: holder !== undefined })
    answer(exchange, { known: false }, cookieFor(exchange, { secret: '', seconds: 0, share: shareIn(request.url) }))
  }

  async leave(exchange: Exchange): Promise<void> {
    const { holder } = exchange
    if (holder === undefined || holder.kind === 'token') return exchange.refuse(ONLY_DEVICES)
    if (holder.kind === 'device') await this.#desk.leave(holder)
    const share = holder.kind === 'share' ? holder.name : undefined
    answer(exchange, {}, cookieFor(exchange, { secret: '', seconds: 0, share }))
  }

  async #pairDevice(
    exchange: Exchange,
    { code, name }: { readonly code: string; readonly name: string },
  ): Promise<void> {
    const { device, token } = await this.#desk.pair(code, name)
    const about = { kind: 'device', name: device.name, role: device.role, scope: device.scope ?? 'all' }
    give(exchange, about, { secret: token, seconds: COOKIE_SECONDS })
  }

  /** False where no share link has this code. */
  async #share(exchange: Exchange, code: string): Promise<boolean> {
    const link = await this.#desk.shareOf(code)
    if (link === undefined) return false
    const { id, sessionId, until, tools } = link
    const seconds = Math.ceil((Date.parse(until) - this.#desk.now()) / 1000)
    const about = { kind: 'share', share: id, sessionId, until, tools, role: 'read' }
    give(exchange, about, { secret: code, seconds, share: id })
    return true
  }
}

interface IssuedCookie {
  readonly secret: string
  readonly seconds: number
  /** The id of a share link: its cookie does not replace that of a paired browser. */
  readonly share?: string | undefined
}

/** A page's script never sees the credential; a program, which sends no origin, has no use for a cookie. */
function give(exchange: Exchange, about: object, given: IssuedCookie): void {
  if (isOwnOrigin(exchange.headers, exchange.reachable)) answer(exchange, about, cookieFor(exchange, given))
  else answer(exchange, { ...about, token: given.secret })
}

function answer(exchange: Exchange, about: object, cookie?: string): void {
  const headers = { 'Content-Type': 'application/json', ...(cookie !== undefined && { 'Set-Cookie': cookie }) }
  exchange.answer(200, headers, `${JSON.stringify(about)}\n`)
}

/**
 * For the path of the public URL alone: the rest of that host may be other programs'. No script can read it, and no page of
 * another site makes the browser send it.
 */
function cookieFor({ headers, reachable }: Exchange, { secret, seconds, share }: IssuedCookie): string {
  const { cookie, hasTls, publicUrl } = reachable
  const isPublic = publicUrl !== undefined && headers.origin === publicUrl.origin
  const path = isPublic ? publicUrl.pathname.replace(/\/?$/u, '/') : '/'
  const isSecure = hasTls || isPublic || cookie.startsWith('__Host-')
  const attributes = [
    `Path=${path}`,
    `Max-Age=${seconds}`,
    'HttpOnly',
    'SameSite=Strict',
    ...(isSecure ? ['Secure'] : []),
  ]
  return [`${share === undefined ? cookie : `${cookie}-${share}`}=${secret}`, ...attributes].join('; ')
}

/** Undefined where it is too long. */
async function bodyOf(exchange: Exchange): Promise<string | undefined> {
  try {
    return (await exchange.body(MAX_BYTES)).toString()
  } catch (error) {
    if (error instanceof BodyTooLong) return undefined
    throw error
  }
}

function fieldsIn(body: string): Readonly<Record<string, unknown>> {
  try {
    return fieldsOf(JSON.parse(body))
  } catch {
    return {}
  }
}

const NOT_JSON: Refusal = { status: 415, sentence: 'Send JSON, with Content-Type: application/json.' }

const TOO_LONG: Refusal = { status: 413, sentence: 'That is too long for a code and a name.' }

const MALFORMED: Refusal = {
  status: 400,
  sentence: 'Send JSON of the form {"code":"…","name":"…"}: the code of the link, and how the device is to be called.',
}

const ONLY_DEVICES: Refusal = {
  status: 403,
  sentence: "An access token does not leave by itself. On the server's machine, remove it with: parley token rm NAME",
}
