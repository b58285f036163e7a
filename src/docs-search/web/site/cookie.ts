/** The cookie that carries the secret of a visit. */
import type { IncomingHttpHeaders } from 'node:http'

/** Browsers keep cookies by host and not by port, so the name tells servers of one machine apart. */
function nameFor(port: number, secure: boolean): string {
  return `${secure ? '__Host-' : ''}parley-docs-${port}`
}

export interface CookiePlace {
  readonly port: number
  /** Only over TLS. */
  readonly secure: boolean
}

export function secretIn(headers: IncomingHttpHeaders, port: number): string | undefined {
  const cookies = (headers.cookie ?? '').split(/; */).map((pair) => pair.split('=', 2))
  const valueOf = (name: string) => cookies.find(([key]) => key === name)?.[1]
  return valueOf(nameFor(port, true)) ?? valueOf(nameFor(port, false))
}

export function cookieWith(secret: string, { port, secure }: CookiePlace): string {
  return `${nameFor(port, secure)}=${secret}; Path=/; HttpOnly; SameSite=Strict${secure ? '; Secure' : ''}`
}

/** Takes the cookie away, under whichever name it has. */
export function withoutCookies(port: number): readonly string[] {
  return [true, false].map((secure) => `${cookieWith('', { port, secure })}; Max-Age=0`)
}
