/**
 * The answers of the server, by path. The ACP endpoint, the page and pairing are one or more routes each. The listener
 * checks host, origin and credential before a route sees a request.
 */
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { TokenHolder } from '../../credentials/access-tokens.ts'
import type { Exchange } from './exchange.ts'
import type { Reachable } from './request-checks.ts'

export interface Route {
  /** Without the path of the public URL: `/acp`; with `*` at its end everything that begins like this. */
  readonly path: string
  /** Other methods are answered with 405. A route with `GET` gets `HEAD` too. */
  readonly methods: readonly string[]
  /**
   * `public`: its answers are the same for everyone, or it checks what it is given itself, such as a pairing code.
   * `optional`: it also answers who has no credential, or one that is none any more.
   */
  readonly access: 'public' | 'optional' | 'credential'
  /** An error that it throws is answered with 500 and reported. */
  handle(exchange: Exchange): void | Promise<void>
  /** Absent: an upgrade of this path is refused. */
  upgrade?(upgrade: Upgrade): void
}

/** A request to become a WebSocket; everything about it was found right. */
export interface Upgrade {
  readonly request: IncomingMessage
  readonly wire: Duplex
  readonly head: Buffer
  readonly holder: TokenHolder
}

export class Routes {
  readonly #exact = new Map<string, Route>()
  readonly #prefixes: Route[] = []

  constructor(routes: readonly Route[]) {
    for (const route of routes) {
      if (route.path.endsWith('*')) this.#prefixes.push(route)
      else this.#exact.set(route.path, route)
    }
    // The longest prefix that fits.
    this.#prefixes.sort((a, b) => b.path.length - a.path.length)
  }

  /** Paths are compared as they came: one that is written in another way is another path. */
  find(path: string): Route | undefined {
    return this.#exact.get(path) ?? this.#prefixes.find((one) => path.startsWith(one.path.slice(0, -1)))
  }
}

/** A proxy may pass the path of the public URL on, or leave it out. */
export function pathOf({ url = '' }: Pick<IncomingMessage, 'url'>, { publicUrl }: Reachable): string {
  const [path = ''] = url.split('?', 1)
  const base = (publicUrl?.pathname ?? '/').replace(/\/$/u, '')
  return base !== '' && path.startsWith(`${base}/`) ? path.slice(base.length) : path
}

export function allows(route: Route, method: string): boolean {
  return route.methods.includes(method) || (method === 'HEAD' && route.methods.includes('GET'))
}
