/** Signs users in with a key and out again, and knows who is signed in. */
import type { IncomingMessage } from 'node:http'
import { Attempts } from '../../../credentials/rate-limit.ts'
import type { KeyHolder } from '../../keys/keys.ts'
import { offeredIn } from '../../keys/request-key.ts'
import { ownAddress } from './addresses.ts'
import { cookieWith, secretIn, withoutCookies, WebSessions } from './web-sessions.ts'
import { html } from '../parts/html.ts'
import { htmlPageOf, problemPage } from '../parts/layout.ts'
import { moved, type HttpReply } from './reply.ts'
import { signInPage } from '../sign-in-page.ts'

export interface SigningOptions {
  readonly principalOf: (offered: string) => KeyHolder | null
  readonly tls: boolean
}

export class Signing {
  readonly #options: SigningOptions
  readonly #visits = new WebSessions()
  readonly #attempts = new Attempts(() => performance.now())

  constructor(options: SigningOptions) {
    this.#options = options
  }

  /** By the key of the request, or by the session of the browser. Null if neither is valid. */
  principalOf({ headers, socket }: IncomingMessage): KeyHolder | null {
    const offered = offeredIn(headers)
    if (offered !== undefined) return this.#options.principalOf(offered)
    const secret = secretIn(headers, socket.localPort ?? 0)
    return secret === undefined ? null : this.#visits.principalOf(secret)
  }

  async in(request: IncomingMessage): Promise<HttpReply> {
    if (!isFromUs(request)) return FOREIGN
    const form = await formIn(request)
    if (form === undefined) return { status: 413, body: signInPage({ to: '/', wrong: 'This is no key.' }), ends: true }
    const address = request.socket.remoteAddress ?? ''
    const to = ownAddress(form.get('to'))
    const wait = this.#attempts.waitFor(address)
    if (wait > 0) return tooMany(wait, to)
    const principal = this.#options.principalOf((form.get('key') ?? '').trim())
    if (principal !== null) return this.#welcome(request, principal, to)
    this.#attempts.wrong(address)
    return wrongKey(to)
  }

  out(request: IncomingMessage): HttpReply {
    if (!isFromUs(request)) return FOREIGN
    const port = request.socket.localPort ?? 0
    const secret = secretIn(request.headers, port)
    if (secret !== undefined) this.#visits.end(secret)
    return moved('/', { 'Set-Cookie': withoutCookies(port) })
  }

  /** The page that is shown instead of the one that was asked for. */
  asked({ url = '/', headers, socket }: IncomingMessage): HttpReply {
    const to = ownAddress(url)
    if (offeredIn(headers) === undefined) return { status: 401, headers: ASKING, body: signInPage({ to }) }
    const address = socket.remoteAddress ?? ''
    const wait = this.#attempts.waitFor(address)
    this.#attempts.wrong(address)
    return wait > 0 ? tooMany(wait, to) : wrongKey(to)
  }

  retain(knows: (principal: KeyHolder) => boolean): void {
    this.#visits.retain(knows)
  }

  #welcome(request: IncomingMessage, principal: KeyHolder, to: string): HttpReply {
    // A proxy may speak TLS for us; the browser says what it sees.
    const secure = this.#options.tls || (request.headers.origin ?? '').startsWith('https:')
    const cookie = cookieWith(this.#visits.begin(principal), { port: request.socket.localPort ?? 0, secure })
    return moved(to, { 'Set-Cookie': cookie })
  }
}

const ASKING = { 'WWW-Authenticate': 'Bearer realm="parley docs"' }

const FOREIGN: HttpReply = {
  status: 403,
  body: htmlPageOf({
    title: 'Refused',
    reader: null,
    content: problemPage(
      'Refused',
      'This form was not sent by a page of this server.',
      html`<p><a href="/">Go to the documents</a></p>`,
    ),
  }),
  ends: true,
}

function wrongKey(to: string): HttpReply {
  const wrong = 'This key opens nothing here. Look whether it is whole.'
  return { status: 401, headers: ASKING, body: signInPage({ to, wrong }) }
}

function tooMany(seconds: number, to: string): HttpReply {
  const wrong = `There were too many wrong keys. Wait ${seconds} seconds, then try again.`
  return { status: 429, headers: { 'Retry-After': String(seconds) }, body: signInPage({ to, wrong }) }
}

const LARGEST = 8_192

/** Undefined for one that is too large or no form. */
async function formIn(request: IncomingMessage): Promise<URLSearchParams | undefined> {
  if (!/^application\/x-www-form-urlencoded\s*(?:;|$)/i.test(request.headers['content-type'] ?? '')) return undefined
  let text = ''
  for await (const chunk of request.setEncoding('utf8')) {
    text += String(chunk)
    if (text.length > LARGEST) return undefined
  }
  return new URLSearchParams(text)
}

/**
 * Whether a page of this very server sent the request, and not one of another server, also not on another port: browsers
 * say so by themselves, and no page can make them say otherwise.
 */
function isFromUs({ headers }: IncomingMessage): boolean {
  const site = headers['sec-fetch-site']
  if (site !== undefined) return site === 'same-origin'
  const { origin = '' } = headers
  return URL.canParse(origin) && new URL(origin).host === headers.host
}
