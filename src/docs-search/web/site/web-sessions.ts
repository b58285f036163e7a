/** The browsers that are signed in. Each has a secret of its own, which is not the key and expires. */
import { randomBytes } from 'node:crypto'
import { hashOf } from '../../../credentials/secret.ts'
import type { KeyHolder } from '../../keys/keys.ts'
import type { IncomingHttpHeaders } from 'node:http'

interface Visit {
  readonly principal: KeyHolder
  readonly idle: NodeJS.Timeout
}

/** A working day. */
const IDLE_MS = 10 * 3_600_000
const MAX_WEB_SESSIONS = 1_000

export class WebSessions {
  /** By the hash of their secret, the longest idle first. */
  readonly #visits = new Map<string, Visit>()

  /** Returns the secret. */
  begin(principal: KeyHolder): string {
    const secret = randomBytes(32).toString('base64url')
    const name = hashOf(secret)
    this.#visits.set(name, { principal, idle: setTimeout(() => this.#visits.delete(name), IDLE_MS).unref() })
    const [quietest] = this.#visits.keys()
    if (this.#visits.size > MAX_WEB_SESSIONS && quietest !== undefined) this.#end(quietest)
    return secret
  }

  /** Looks the hash up, so that the time does not reveal a secret that comes close. */
  principalOf(secret: string): KeyHolder | null {
    const name = hashOf(secret)
    const visit = this.#visits.get(name)
    if (visit === undefined) return null
    visit.idle.refresh()
    this.#visits.delete(name)
    this.#visits.set(name, visit)
    return visit.principal
  }

  end(secret: string): void {
    this.#end(hashOf(secret))
  }

  /** Signs out browsers whose key was removed or has other collections now. */
  retain(knows: (principal: KeyHolder) => boolean): void {
    for (const [name, { principal }] of this.#visits) if (!knows(principal)) this.#end(name)
  }

  #end(name: string): void {
    clearTimeout(this.#visits.get(name)?.idle)
    this.#visits.delete(name)
  }
}

/** Browsers keep cookies by host and not by port, so the name distinguishes servers of one machine. */
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
