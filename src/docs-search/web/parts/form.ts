/** A form that a browser sent from a page of ours. */
import type { IncomingMessage } from 'node:http'

const LARGEST = 8_192

/** Undefined for one that is too large or no form. */
export async function formIn(request: IncomingMessage): Promise<URLSearchParams | undefined> {
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
export function isFromUs({ headers }: IncomingMessage): boolean {
  const site = headers['sec-fetch-site']
  if (site !== undefined) return site === 'same-origin'
  const { origin = '' } = headers
  return URL.canParse(origin) && new URL(origin).host === headers.host
}
