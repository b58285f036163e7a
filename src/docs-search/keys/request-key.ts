/** The key that a request offers in its headers, as programs do. */
import type { IncomingHttpHeaders } from 'node:http'

export function offeredIn(headers: IncomingHttpHeaders): string | undefined {
  const bearer = /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1]
  const header = headers['x-api-key']
  return bearer ?? (typeof header === 'string' ? header : undefined)
}
