/**
 * The listener for remote clients: one or several addresses, with or without TLS. It answers `/healthz` to everyone, and
 * everything else only to clients that show a credential, on loopback too: other users, pages and tunnels arrive there.
 */
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { TokenHolder } from '../../credentials/access-tokens.ts'
import { fail, isParleyError, reasonOf } from '../../errors/parley-error.ts'
import type { Clock } from '../../ports/clock.ts'
import { AcpEndpoint } from './acp-endpoint.ts'
import { Connections, type RemoteClientele } from './connections.ts'
import { Exchange } from './exchange.ts'
import { Gate } from './admission/gate.ts'
import { SilentSockets } from './admission/silent-sockets.ts'
import { refuseUpgrade } from './refuse-upgrade.ts'
import { DATABASE_AWAY, PREFLIGHT, type Reachable, type Refusal, cookieName, isPreflight } from './request-checks.ts'
import type { RemoteLimits } from './admission/remote-limits.ts'
import { type Handlers, HttpServer, type Tls } from './server.ts'
import type { TrustedProxies } from './admission/client-address.ts'
import { type Route, Routes, allows, pathOf } from './routes.ts'

/** How long the body of a request may take. */
const BODY_MS = 30_000

export interface ListenerOptions {
  readonly tls: Tls | undefined
  readonly publicUrl: URL | undefined
  /** Origins of pages that may use the server with a bearer token. */
  readonly allowedOrigins: readonly string[]
  readonly proxies: TrustedProxies
  readonly limits: RemoteLimits
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
  readonly server: HttpServer
  readonly address: { readonly host: string; readonly port: number }
  /** With those that became WebSockets. */
  readonly sockets: Set<Socket>
}

/** A listening address: what its requests are checked against, and its sockets without a credential so far. */
interface ListenerContext {
  readonly reachable: Reachable
  readonly silent: SilentSockets
}

export class HttpListener {
  readonly #options: ListenerOptions
  readonly #gate: Gate
  readonly #connections: Connections
  readonly #routes: Routes
  #ports: readonly Port[] = []

  /** Listens nowhere yet. */
  constructor(options: ListenerOptions) {
    const { clients, clock, routes, limits, proxies } = options
    this.#options = options
    this.#gate = new Gate(clients, { clock, proxies, limits })
    this.#connections = new Connections(clients, limits)
    this.#routes = new Routes([HEALTH, new AcpEndpoint(this.#connections, clock), ...routes])
  }

  /** The listening addresses, each with the URL of the page there, such as `http://127.0.0.1:7777/`. */
  get listening(): readonly { readonly address: Port['address']; readonly page: string }[] {
    const scheme = this.#options.tls === undefined ? 'http' : 'https'
    return this.#ports.map(({ server, address }) => {
      const { address: host, port } = server.listening.address() as AddressInfo
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
    for (const { server } of this.#ports) server.destroy()
  }

  /** New connections see this certificate. Throws what is wrong about it; then the old one stays. */
  renew(tls: Tls): void {
    for (const { server } of this.#ports) server.renew(tls)
  }

  /** One that is listened on already stays as it is. Throws LISTEN_FAILED and CONFIG_INVALID. */
  async listen({ host, port, isLoopback }: ListenAddress): Promise<void> {
    if (port !== 0 && this.#ports.some((one) => one.address.host === host && one.address.port === port)) return
    let reachable: Reachable | undefined
    const silent = new SilentSockets()
    const server = new HttpServer(
      this.#options.tls,
      this.#handlers(() => ({ reachable: reachable ?? this.#reachable({ host, isLoopback, port }), silent })),
    )
    const { listening } = server
    const sockets = new Set<Socket>()
    listening.on('connection', (socket: Socket) => {
      sockets.add(socket)
      silent.add(socket)
      socket.once('close', () => sockets.delete(socket))
    })
    try {
      listening.listen(port, host)
      await once(listening, 'listening')
    } catch (error) {
      return fail('LISTEN_FAILED', { address: `${host}, port ${port}`, reason: reasonOf(error) }, error)
    }
    listening.on('error', (error) => this.#options.clients.report(error))
    const { port: chosen } = listening.address() as AddressInfo
    reachable = this.#reachable({ host, isLoopback, port: chosen })
    this.#ports = [...this.#ports, { server, address: { host, port: chosen }, sockets }]
  }

  /** Clients that came in there are cut off. Nothing where it is not listened on. */
  stopListening({ host, port }: Port['address']): void {
    const closing = this.#ports.filter(({ address }) => address.host === host && address.port === port)
    this.#ports = this.#ports.filter((one) => !closing.includes(one))
    for (const { server, sockets } of closing) {
      server.close()
      for (const socket of sockets) socket.destroy()
    }
  }

  #reachable({ host, isLoopback, port }: ListenAddress): Reachable {
    const { tls, publicUrl, allowedOrigins } = this.#options
    const hasTls = tls !== undefined
    return { host, isLoopback, hasTls, publicUrl, allowedOrigins, cookie: cookieName({ hasTls, publicUrl, port }) }
  }

  #handlers(context: () => ListenerContext): Handlers {
    return {
      request: (request, response) => {
        this.#answer(request, response, context()).catch((error: unknown) => {
          this.#options.clients.report(error)
          response.destroy()
        })
      },
      upgrade: (request, wire, head) => {
        this.#upgrade(request, { wire, head }, context()).catch((error: unknown) => {
          this.#options.clients.report(error)
          wire.destroy()
        })
      },
    }
  }

  async #answer(request: IncomingMessage, response: ServerResponse, context: ListenerContext): Promise<void> {
    const { reachable } = context
    const path = pathOf(request, reachable)
    const admitted = await this.#admit(request, path, context)
    const holder = 'status' in admitted ? undefined : admitted.holder
    const refuseWrong = (refusal: Refusal): Refusal => this.#gate.refuseWrong(request, refusal)
    const exchange = new Exchange(request, response, { path, reachable, holder, refuseWrong })
    this.#hurry(request)
    if (isPreflight(request, reachable)) return exchange.answer(204, PREFLIGHT)
    if ('status' in admitted) return exchange.refuse(admitted)
    if (!allows(admitted.route, exchange.method)) return exchange.refuse(methodUnknown(admitted.route))
    try {
      await admitted.route.handle(exchange)
    } catch (error) {
      if (isParleyError(error, 'CLUSTER_UNREACHABLE')) return exchange.refuse(DATABASE_AWAY)
      this.#options.clients.report(error)
      exchange.refuse({ status: 500, sentence: 'The server could not answer; its log says why.' })
    }
  }

  /** Node watches this for HTTP/1.1 alone. */
  #hurry(request: IncomingMessage): void {
    const late = this.#options.clock.setTimer(BODY_MS, () => request.complete || request.destroy())
    for (const end of ['end', 'close']) request.once(end, () => late.cancel())
  }

  async #upgrade(
    request: IncomingMessage,
    { wire, head }: { readonly wire: Duplex; readonly head: Buffer },
    context: ListenerContext,
  ): Promise<void> {
    // A connection that breaks harms no other.
    wire.on('error', () => wire.destroy())
    const admitted = await this.#admit(request, pathOf(request, context.reachable), context)
    if ('status' in admitted) return refuseUpgrade(wire, admitted)
    const { route, holder } = admitted
    if (route.upgrade === undefined || holder === undefined) return refuseUpgrade(wire, NOT_FOUND)
    route.upgrade({ request, wire, head, holder })
  }

  /** The route, and who asks for it; undefined where that does not matter. */
  async #admit(
    request: IncomingMessage,
    path: string,
    { reachable, silent }: ListenerContext,
  ): Promise<{ readonly route: Route; readonly holder: TokenHolder | undefined } | Refusal> {
    const route = this.#routes.find(path)
    if (route === HEALTH) return { route, holder: undefined }
    const refusal = this.#gate.refusalOf(request.headers, reachable)
    if (refusal !== undefined) return refusal
    if (route?.access === 'public') return { route, holder: undefined }
    const holder = await this.#gate.holderOf(request, reachable)
    if ('status' in holder)
      return route?.access === 'optional' && holder.status === 401 ? { route, holder: undefined } : holder
    silent.admitted(request.socket)
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
