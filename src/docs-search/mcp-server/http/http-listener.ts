/** The HTTP listener: one address, with or without TLS, that serves both protocol eras to clients with a key. */
import { once } from 'node:events'
import { createServer as createHttpServer, type RequestListener, type Server } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { hostname } from 'node:os'
import { fail, reasonOf } from '../../../errors/parley-error.ts'
import { isLoopback } from '../../../net-policy/loopback.ts'
import type { KeyHolder } from '../../keys/keys.ts'
import type { Change } from '../../collections/collection-set.ts'
import type { ClientServer } from '../mcp.ts'
import { Site } from '../../web/site/site.ts'
import type { Era, CollectionView } from '../../collections/view.ts'
import { mcpEndpoint } from './mcp-endpoint.ts'
import { StatelessHandler } from './stateless-handler.ts'
import { Sessions } from './sessions.ts'

/** The service behind the listener. */
export interface HttpService {
  open(principal: KeyHolder, era: Era): ClientServer
  /** The part of a change that this key's clients learn of, or null. */
  newsFor(principal: KeyHolder): (change: Change) => Change | null
  principalOf(offered: string | null): KeyHolder | null
  view(principal: KeyHolder): CollectionView
}

export interface Certificate {
  readonly cert: string | Buffer
  readonly key: string | Buffer
}

export interface HttpListenerOptions {
  readonly service: HttpService
  readonly log: (line: string) => void
  readonly host: string
  /** 0: a free one. */
  readonly port: number
  readonly tls?: Certificate
  /** Whether the key and the documents may cross a network that others can read. */
  readonly insecureHttp: boolean
  /** Further names by which requests may call this host. */
  readonly allowedHosts: readonly string[]
  readonly allowQueryKey: boolean
  readonly sessionIdleMs: number
  readonly mostSessions: number
}

export interface DocsListener {
  readonly url: string
  /** The address of the page for users. */
  readonly page: string
  readonly port: number
  notify(change: Change): void
  /** Ends what belongs to principals that are not known any more. */
  retain(knows: (principal: KeyHolder) => boolean): Promise<void>
  close(): Promise<void>
}

/** Throws DOCS_PLAIN_HTTP, DOCS_TLS or DOCS_LISTEN. */
export async function openHttpListener(options: HttpListenerOptions): Promise<DocsListener> {
  const { host, port, service, log, tls } = options
  if (tls === undefined && !isLoopback(host) && !options.insecureHttp) fail('DOCS_PLAIN_HTTP', { host })
  const sessions = new Sessions({
    build: (principal) => service.open(principal, 'legacy'),
    idleMs: options.sessionIdleMs,
    most: options.mostSessions,
    log,
  })
  const modern = new StatelessHandler({
    build: (principal) => service.open(principal, 'modern'),
    newsFor: (principal) => service.newsFor(principal),
  })
  const site = new Site({
    view: (principal) => service.view(principal),
    principalOf: (offered) => service.principalOf(offered),
    tls: tls !== undefined,
    log,
  })
  const answer = mcpEndpoint({
    hosts: hostsOf(options),
    addresses: !isLoopback(host),
    principalOf: (offered) => service.principalOf(offered),
    allowQueryKey: options.allowQueryKey,
    sessions,
    modern,
    site,
    log,
  })
  const server = serverFor(tls, (request, response) => {
    answer(request, response).catch((error: unknown) => {
      log(`A request failed: ${reasonOf(error)}`)
      response.destroy()
    })
  })
  await listen(server, host, port)
  const bound = (server.address() as AddressInfo).port
  const origin = `${tls === undefined ? 'http' : 'https'}://${urlHost(host)}:${bound}`
  return {
    url: `${origin}/mcp`,
    page: `${origin}/`,
    port: bound,
    notify(change) {
      sessions.tell(change)
      modern.tell(change)
    },
    async retain(knows) {
      site.retain(knows)
      await Promise.all([sessions.retain(knows), modern.retain(knows)])
    },
    async close() {
      await Promise.all([sessions.close(), modern.close(), closed(server)])
    },
  }
}

function hostsOf({ host, allowedHosts }: HttpListenerOptions): readonly string[] {
  return ['localhost', '127.0.0.1', '[::1]', ...(isLoopback(host) ? [] : [host, hostname()]), ...allowedHosts]
}

function urlHost(host: string): string {
  return host.includes(':') ? `[${host}]` : host
}

function serverFor(tls: Certificate | undefined, answer: RequestListener): Server {
  // Longer than clients keep a connection, so that none sends a request into one that is being closed.
  const keepAliveTimeout = 75_000
  if (tls === undefined) return createHttpServer({ keepAliveTimeout }, answer)
  try {
    return createHttpsServer({ keepAliveTimeout, minVersion: 'TLSv1.2', ...tls }, answer)
  } catch (error) {
    return fail('DOCS_TLS', { reason: reasonOf(error) }, error)
  }
}

async function listen(server: Server, host: string, port: number): Promise<void> {
  server.listen(port, host)
  try {
    await once(server, 'listening')
  } catch (error) {
    fail('DOCS_LISTEN', { host, port, reason: reasonOf(error) }, error)
  }
}

async function closed(server: Server): Promise<void> {
  const over = new Promise<void>((resolve) => server.close(() => resolve()))
  server.closeAllConnections()
  await over
}
