/** One request and its answer, whichever version of HTTP carries them. */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import type { TokenHolder } from '../../credentials/access-tokens.ts'
import { type Reachable, type Refusal, sharedWith } from './request-checks.ts'

/** Sent with every answer of ours; a route may replace each of them. */
export const PLAIN = {
  'Content-Type': 'text/plain; charset=utf-8',
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
} as const

/** The body was longer than the route allows. */
export class BodyTooLong extends Error {}
/** The client left, or sent too slowly, before its whole body was there. */
export class BodyLost extends Error {}

interface ExchangeContext {
  /** Without the path of the public URL and without what follows `?`. */
  readonly path: string
  readonly reachable: Reachable
  /** Undefined on a route that needs no credential. */
  readonly holder: TokenHolder | undefined
  /** Counts what it showed as a wrong credential of its network, and returns how to refuse it: as given, or with 429. */
  refuseWrong(refusal: Refusal): Refusal
}

export class Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly #asked: ExchangeContext

  constructor(request: IncomingMessage, response: ServerResponse, asked: ExchangeContext) {
    this.request = request
    this.response = response
    this.#asked = asked
  }

  get path(): string {
    return this.#asked.path
  }

  get reachable(): Reachable {
    return this.#asked.reachable
  }

  get holder(): TokenHolder | undefined {
    return this.#asked.holder
  }

  get method(): string {
    return this.request.method ?? ''
  }

  get headers(): IncomingHttpHeaders {
    return this.request.headers
  }

  /** The first of several headers of this name. */
  header(name: string): string | undefined {
    const value = this.request.headers[name]
    return Array.isArray(value) ? value[0] : value
  }

  /** Answers once; the second answer of a route is dropped. */
  answer(status: number, headers: Readonly<Record<string, string>> = {}, body: string | Uint8Array = ''): void {
    if (this.response.headersSent || this.response.destroyed) return
    // Whatever the request still brings is not read.
    this.request.resume()
    const length = typeof body === 'string' ? Buffer.byteLength(body) : body.length
    this.response.writeHead(status, { ...this.#usual(), ...headers, 'Content-Length': String(length) })
    // Node leaves the body of an answer to HEAD out.
    this.response.end(body)
  }

  #usual(): Readonly<Record<string, string>> {
    return { ...PLAIN, ...sharedWith(this.request.headers, this.reachable) }
  }

  /** One line that says why. */
  refuse({ status, sentence, headers }: Refusal): void {
    this.answer(status, headers, `${sentence}\n`)
  }

  /** As `refuse`, where what was shown is a credential that is wrong. */
  refuseWrong(refusal: Refusal): void {
    this.refuse(this.#asked.refuseWrong(refusal))
  }

  /** Begins an answer whose end is open; it is on its way at once. */
  stream(headers: Readonly<Record<string, string>>): ServerResponse {
    this.response.writeHead(200, { ...this.#usual(), ...headers })
    this.response.flushHeaders()
    return this.response
  }

  /** The whole body. Rejects with BodyTooLong and BodyLost; the request can still be answered after the first. */
  body(maxBytes: number): Promise<Buffer> {
    const { request } = this
    if (Number(request.headers['content-length'] ?? 0) > maxBytes) return Promise.reject(new BodyTooLong())
    return new Promise((resolve, reject) => {
      const pieces: Buffer[] = []
      let bytes = 0
      request.on('data', (piece: Buffer) => {
        bytes += piece.length
        if (bytes <= maxBytes) pieces.push(piece)
        else reject(new BodyTooLong())
      })
      request.once('end', () => resolve(Buffer.concat(pieces)))
      request.once('error', (cause) => reject(new BodyLost(undefined, { cause })))
      request.once('close', () => reject(new BodyLost()))
    })
  }
}
