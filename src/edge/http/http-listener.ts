/**
 * The listener for remote clients: one or several addresses, with or without TLS. It answers `/healthz` to everyone, and
 * everything else only to whoever shows a credential, on loopback too: other users, pages and tunnels arrive there.
 */
import { once } from 'node:events'
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { TokenHolder } from '../../credentials/access-tokens.ts'
import { fail, reasonOf } from '../../errors/parley-error.ts'
import type { Clock } from '../../ports/clock.ts'
import { AcpEndpoint } from './acp-endpoint.ts'
import { Connections, type RemoteClientele } from './connections.ts'
import { Exchange } from './exchange.ts'
import { Gate } from './gate.ts'
import { refuseUpgrade } from './refuse-upgrade.ts'
import { type Reachable, type Refusal, cookieName } from './request-checks.ts'
import { type Route, Routes, allows, pathOf } from './routes.ts'

/** Connections that have shown nothing yet; they are gone after `HEADERS_MS`. */
const MAX_SOCKETS = 1_024
const HEADERS_MS = 10_000
const REQUEST_MS = 30_000
const HEADER_BYTES = 16 * 1024
/** Longer than proxies keep a connection that they may use again: else one of theirs is lost now and then. */
const KEEP_ALIVE_MS = 75_000

export interface ListenerOptions {
  readonly tls: { readonly cert: Buffer; readonly key: Buffer } | undefined
  readonly publicUrl: URL | undefined
  readonly clock: Pick<Clock, 'setTimer' | 'monotonicNow' | 'id'>
  readonly clients: RemoteClientele
  /** Besides ACP. */
  readonly routes: readonly Route[]
}

export interface ListenAddress {
  readonly host: string
  /** 0: a free one. */
  readonly port: number
  readonly isLoopback: boolean
}

/** An address that is listened on. */
interface Port {
  readonly server: Server
  readonly address: { readonly host: string; readonly port: number }
  /** With those that became WebSockets. */
  readonly sockets: Set<Socket>
}

export class HttpListener {
  readonly #options: ListenerOptions
  readonly #gate: Gate
  readonly #connections: Connections
  readonly #routes: Routes
  #ports: readonly Port[] = []

  /** Listens nowhere yet. */
  constructor(options: ListenerOptions) {
    const { clients, clock, routes } = options
    this.#options = options
    this.#gate = new Gate(clients, clock)
    this.#connections = new Connections(clients)
    this.#routes = new Routes([HEALTH, new AcpEndpoint(this.#connections, clock), ...routes])
  }

  /** What is listened on, with the address of the page there, such as `http://127.0.0.1:7777/`. */
  get listening(): readonly { readonly address: Port['address']; readonly page: string }[] {
    const scheme = this.#options.tls === undefined ? 'http' : 'https'
    return this.#ports.map(({ server, address }) => {
      const { address: host, port } = server.address() as AddressInfo
      return { address, page: `${scheme}://${host.includes(':') ? `[${host}]` : host}:${port}/` }
    })
  }

  /** Ends the connections whose credential changed. */
  recheck(changeFor: (holder: TokenHolder) => 'removed' | 'other role' | undefined): void {
    this.#connections.recheck(changeFor)
  }

  /** Accepts no more clients. Connected ones stay. */
  close(): void {
    for (const { server } of this.#ports) server.close()
  }

  /** Ends what is still open of requests and streams. WebSockets are not among these. */
  destroy(): void {
    this.close()
    for (const { server } of this.#ports) server.closeAllConnections()
  }

  /** One that is listened on already stays as it is. Throws LISTEN_FAILED and CONFIG_INVALID. */
  async listen({ host, port, isLoopback }: ListenAddress): Promise<void> {
    if (port !== 0 && this.#ports.some((one) => one.address.host === host && one.address.port === port)) return
    const server = this.#serverFor()
    const sockets = new Set<Socket>()
    server.maxConnections = MAX_SOCKETS
    server.on('connection', (socket: Socket) => {
      sockets.add(socket)
      socket.once('close', () => sockets.delete(socket))
    })
    try {
      server.listen(port, host)
      await once(server, 'listening')
    } catch (error) {
      return fail('LISTEN_FAILED', { address: `${host}, port ${port}`, reason: reasonOf(error) }, error)
    }
    server.on('error', (error) => this.#options.clients.report(error))
    this.#serve(server, this.#reachable(host, isLoopback, server))
    const { port: chosen } = server.address() as AddressInfo
    this.#ports = [...this.#ports, { server, address: { host, port: chosen }, sockets }]
  }

  /** Whoever came in there is cut off. Nothing where it is not listened on. */
  stopListening({ host, port }: Port['address']): void {
    const closing = this.#ports.filter(({ address }) => address.host === host && address.port === port)
    this.#ports = this.#ports.filter((one) => !closing.includes(one))
    for (const { server, sockets } of closing) {
      server.close()
      for (const socket of sockets) socket.destroy()
    }
  }

  #reachable(host: string, isLoopback: boolean, server: Server): Reachable {
    const { tls, publicUrl } = this.#options
    const hasTls = tls !== undefined
    const { port } = server.address() as AddressInfo
    return { host, isLoopback, hasTls, publicUrl, cookie: cookieName({ hasTls, publicUrl, port }) }
  }

  #serve(server: Server, reachable: Reachable): void {
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      this.#answer(request, response, reachable).catch((error: unknown) => {
        this.#options.clients.report(error)
        response.destroy()
      })
    })
    server.on('upgrade', (request: IncomingMessage, wire: Duplex, head: Buffer) =>
      this.#upgrade(request, { wire, head }, reachable),
    )
  }

  #serverFor(): Server {
    const { tls } = this.#options
    const limits = {
      headersTimeout: HEADERS_MS,
      requestTimeout: REQUEST_MS,
      maxHeaderSize: HEADER_BYTES,
      keepAliveTimeout: KEEP_ALIVE_MS,
    }
    if (tls === undefined) return createServer(limits)
    try {
      return createTlsServer({ ...limits, ...tls, minVersion: 'TLSv1.2', handshakeTimeout: HEADERS_MS })
    } catch (error) {
      return fail('CONFIG_INVALID', { key: '--tls-cert', reason: reasonOf(error) }, error)
    }
  }

  async #answer(request: IncomingMessage, response: ServerResponse, reachable: Reachable): Promise<void> {
    const path = pathOf(request, reachable)
    const admitted = this.#admit(request, path, reachable)
    const holder = 'status' in admitted ? undefined : admitted.holder
    const exchange = new Exchange(request, response, { path, reachable, holder })
    if ('status' in admitted) return exchange.refuse(admitted)
    if (!allows(admitted.route, exchange.method)) return exchange.refuse(methodUnknown(admitted.route))
    try {
      await admitted.route.handle(exchange)
    } catch (error) {
      this.#options.clients.report(error)
      exchange.refuse({ status: 500, sentence: 'The server could not answer; its log says why.' })
    }
  }

  #upgrade(
    request: IncomingMessage,
    { wire, head }: { readonly wire: Duplex; readonly head: Buffer },
    reachable: Reachable,
  ): void {
    // A connection that breaks harms no other.
    wire.on('error', () => wire.destroy())
    const admitted = this.#admit(request, pathOf(request, reachable), reachable)
    if ('status' in admitted) return refuseUpgrade(wire, admitted)
    const { route, holder } = admitted
    if (route.upgrade === undefined || holder === undefined) return refuseUpgrade(wire, NOT_FOUND)
    route.upgrade({ request, wire, head, holder })
  }

  /** The route, and who asks for it; undefined where that does not matter. */
  #admit(
    request: IncomingMessage,
    path: string,
    reachable: Reachable,
  ): { readonly route: Route; readonly holder: TokenHolder | undefined } | Refusal {
    const route = this.#routes.find(path)
    if (route === HEALTH) return { route, holder: undefined }
    const refusal = this.#gate.refusalOf(request.headers, reachable)
    if (refusal !== undefined) return refusal
    if (route?.access === 'public') return { route, holder: undefined }
    const holder = this.#gate.holderOf(request, reachable)
    if ('status' in holder) return holder
    return route === undefined ? NOT_FOUND : { route, holder }
  }
}

/** Asked by proxies and supervisors by any name, and without a credential. */
const HEALTH: Route = {
  path: '/healthz',
  methods: ['GET'],
  access: 'public',
  handle: (exchange) => exchange.answer(200, {}, 'ok\n'),
}

const NOT_FOUND: Refusal = { status: 404, sentence: 'There is nothing here; ACP is at /acp.' }

function methodUnknown({ path, methods }: Route): Refusal {
  return { status: 405, sentence: `${path} takes ${methods.join(', ')}.`, headers: { Allow: methods.join(', ') } }
}
