/** Sends a page with the security headers that every page has. */
import type { ServerResponse } from 'node:http'

export type Headers = Readonly<Record<string, string | readonly string[]>>

export interface HttpReply {
  readonly status: number
  readonly headers?: Headers
  readonly body?: string
  /** The connection is closed after this reply; other requests that were sent on it are not read. */
  readonly ends?: boolean
}

const HEADERS: Headers = {
  'Content-Type': 'text/html; charset=utf-8',
  'Cache-Control': 'no-store',
  // Nothing may run or be loaded but what this server wrote itself.
  'Content-Security-Policy':
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  // Forms must be able to say where they come from, so not less than this.
  'Referrer-Policy': 'same-origin',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
}

export function moved(to: string, headers: Headers = {}): HttpReply {
  return { status: 303, headers: { ...headers, Location: to } }
}

export function sendReply(response: ServerResponse, { status, headers, body = '', ends = false }: HttpReply): void {
  response.statusCode = status
  for (const [name, value] of Object.entries({ ...HEADERS, ...headers })) response.setHeader(name, value)
  response.setHeader('Content-Length', Buffer.byteLength(body))
  if (ends) response.setHeader('Connection', 'close')
  response.end(body)
}
