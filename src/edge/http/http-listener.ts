/**
 * The listener for remote clients: one or several addresses, with or without TLS. It answers `/healthz` to everyone, and
 * everything else only to whoever shows a credential, on loopback too: other users, pages and tunnels arrive there.
 */
import { once } from 'node:events'
import { type IncomingMessage, STATUS_CODES, type Server, type ServerResponse, createServer } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { WebSocketServer } from 'ws'
import type { TokenHolder } from '../../credentials/access-tokens.ts'
import { Attempts } from '../../credentials/attempts.ts'
import { fail, reasonOf } from '../../errors/parley-error.ts'
import type { Clock } from '../../ports/clock.ts'
import { SharedLimits } from '../transport/streams.ts'
import type { Transport } from '../transport/transport.ts'
import {
  NO_CREDENTIAL,
  type Reachable,
  type Refusal,
  WRONG_CREDENTIAL,
  refusalOfHost,
  refusalOfOrigin,
  tokenIn,
  tooManyTries,
} from './request-checks.ts'
import { MANY_LINES, WebSocketTransport } from './websocket.ts'

const MAX_MESSAGE_BYTES = 16 * 1024 * 1024
const MAX_CONNECTIONS = 64
const MAX_CONNECTIONS_OF_ONE = 16
/** Connections that have shown nothing yet; they are gone after `HEADERS_MS`. */
const MAX_SOCKETS = 1_024
const HEADERS_MS = 10_000
const REQUEST_MS = 30_000
const HEADER_BYTES = 16 * 1024

export interface ListenerOptions {
  readonly addresses: readonly { readonly host: string; readonly port: number; readonly isLoopback: boolean }[]
  readonly tls: { readonly cert: Buffer; readonly key: Buffer } | undefined
  readonly publicUrl: URL | undefined
  readonly clock: Pick<Clock, 'setTimer' | 'monotonicNow' | 'id'>
  readonly clients: RemoteClientele
}

/** Who may connect, and what becomes of them. */
export interface RemoteClientele {
  /** Undefined for a wrong token. */
  holderOf(token: string): TokenHolder | undefined
  connected(transport: Transport, holder: TokenHolder): void
  report(error: unknown): void
}

export class HttpListener {
  readonly #options: ListenerOptions
  readonly #attempts: Attempts
  readonly #limits = new SharedLimits()
  readonly #servers: Server[] = []
  readonly #connections = new Map<WebSocketTransport, TokenHolder>()
  readonly #webSockets = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: MAX_MESSAGE_BYTES,
    handleProtocols: (offered) => [MANY_LINES, 'acp.v1'].find((known) => offered.has(known)) ?? false,
  })

  private constructor(options: ListenerOptions) {
    this.#options = options
    this.#attempts = new Attempts(() => options.clock.monotonicNow())
    this.#webSockets.on('headers', (headers) => headers.push(`Acp-Connection-Id: ${options.clock.id()}`))
  }

  /** Throws LISTEN_FAILED and CONFIG_INVALID. */
  static async open(options: ListenerOptions): Promise<HttpListener> {
    const listener = new HttpListener(options)
    try {
      for (const address of options.addresses) await listener.#listen(address)
      return listener
    } catch (error) {
      listener.close()
      throw error
    }
  }

  /** Where clients connect, such as `ws://127.0.0.1:7777/acp`. */
  get urls(): readonly string[] {
    const scheme = this.#options.tls === undefined ? 'ws' : 'wss'
    return this.#servers.map((server) => {
      const { address, port } = server.address() as AddressInfo
      return `${scheme}://${address.includes(':') ? `[${address}]` : address}:${port}/acp`
    })
  }

  /** Ends the connections whose credential changed. */
  recheck(changeFor: (holder: TokenHolder) => 'removed' | 'other role' | undefined): void {
    for (const [transport, holder] of this.#connections) {
      const change = changeFor(holder)
      if (change !== undefined) transport.cut(change === 'removed' ? 'ended' : 'role')
    }
  }

  /** Accepts no more clients. Connected ones stay. */
  close(): void {
    for (const server of this.#servers) {
      server.close()
      // Connections that became WebSockets are not among these.
      server.closeAllConnections()
    }
  }

  async #listen({ host, port, isLoopback }: ListenerOptions['addresses'][number]): Promise<void> {
    const { tls, publicUrl } = this.#options
    const reachable: Reachable = { host, isLoopback, hasTls: tls !== undefined, publicUrl }
    const server = this.#serverFor()
    server.maxConnections = MAX_SOCKETS
    server.on('request', (request: IncomingMessage, response: ServerResponse) =>
      this.#answer(request, response, reachable),
    )
    server.on('upgrade', (request: IncomingMessage, wire: Duplex, head: Buffer) =>
      this.#upgrade(request, { wire, head }, reachable),
    )
    try {
      server.listen(port, host)
      await once(server, 'listening')
    } catch (error) {
      return fail('LISTEN_FAILED', { address: `${host}, port ${port}`, reason: reasonOf(error) }, error)
    }
    server.on('error', (error) => this.#options.clients.report(error))
    this.#servers.push(server)
  }

  #serverFor(): Server {
    const { tls } = this.#options
    const limits = { headersTimeout: HEADERS_MS, requestTimeout: REQUEST_MS, maxHeaderSize: HEADER_BYTES }
    if (tls === undefined) return createServer(limits)
    try {
      return createTlsServer({ ...limits, ...tls, minVersion: 'TLSv1.2', handshakeTimeout: HEADERS_MS })
    } catch (error) {
      return fail('CONFIG_INVALID', { key: '--tls-cert', reason: reasonOf(error) }, error)
    }
  }

  #answer(request: IncomingMessage, response: ServerResponse, reachable: Reachable): void {
    const { status, sentence, headers } = this.#answerTo(request, reachable)
    response.writeHead(status, headersOf({ sentence, headers }))
    // Node leaves the body of an answer to HEAD out.
    response.end(`${sentence}\n`)
    // What a request brings is not read.
    request.resume()
  }

  #answerTo(request: IncomingMessage, reachable: Reachable): Refusal {
    const path = pathOf(request, reachable)
    const isRead = request.method === 'GET' || request.method === 'HEAD'
    if (path === '/healthz' && isRead) return { status: 200, sentence: 'ok' }
    const holder = this.#holderOrRefusal(request, reachable)
    if ('status' in holder) return holder
    if (path !== '/acp') return NOT_FOUND
    return {
      status: 426,
      sentence: 'ACP is spoken over WebSocket here.',
      headers: { Upgrade: 'websocket', Connection: 'Upgrade' },
    }
  }

  #upgrade(
    request: IncomingMessage,
    { wire, head }: { readonly wire: Duplex; readonly head: Buffer },
    reachable: Reachable,
  ): void {
    // A connection that breaks harms no other.
    wire.on('error', () => wire.destroy())
    const holder = this.#holderOrRefusal(request, reachable)
    const refusal = 'status' in holder ? holder : this.#refusalOfUpgrade(request, holder, reachable)
    if (refusal !== undefined || 'status' in holder) return refuse(wire, refusal ?? NOT_FOUND)
    this.#webSockets.handleUpgrade(request, wire, head, (socket) => {
      const { clock, clients } = this.#options
      const transport = new WebSocketTransport(socket, wire, { clock, unread: this.#limits.unread })
      this.#connections.set(transport, holder)
      wire.once('close', () => this.#connections.delete(transport))
      clients.connected(transport, holder)
    })
  }

  #refusalOfUpgrade(request: IncomingMessage, { id }: TokenHolder, reachable: Reachable): Refusal | undefined {
    if (pathOf(request, reachable) !== '/acp') return NOT_FOUND
    const own = [...this.#connections.values()].filter((one) => one.id === id).length
    if (own >= MAX_CONNECTIONS_OF_ONE)
      return { status: 429, sentence: `This access token has ${own} connections already; close one first.` }
    if (this.#connections.size >= MAX_CONNECTIONS)
      return { status: 429, sentence: `The server has ${MAX_CONNECTIONS} connections already; try again later.` }
    return undefined
  }

  /** A right token is accepted even after wrong ones from the same network. */
  #holderOrRefusal({ headers, socket }: IncomingMessage, reachable: Reachable): TokenHolder | Refusal {
    const refusal = refusalOfHost(headers, reachable) ?? refusalOfOrigin(headers, reachable)
    if (refusal !== undefined) return refusal
    const token = tokenIn(headers)
    if (token === undefined) return NO_CREDENTIAL
    const holder = this.#options.clients.holderOf(token)
    if (holder !== undefined) return holder
    const address = socket.remoteAddress ?? ''
    const wait = this.#attempts.waitFor(address)
    this.#attempts.wrong(address)
    return wait === 0 ? WRONG_CREDENTIAL : tooManyTries(wait)
  }
}

const NOT_FOUND: Refusal = { status: 404, sentence: 'There is nothing here; ACP is at /acp.' }

const PLAIN = {
  'Content-Type': 'text/plain; charset=utf-8',
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
}

/** A proxy may pass the path of the public URL on, or leave it out. */
function pathOf({ url = '' }: IncomingMessage, { publicUrl }: Reachable): string {
  const [path = ''] = url.split('?', 1)
  const base = (publicUrl?.pathname ?? '/').replace(/\/$/u, '')
  return base !== '' && path.startsWith(`${base}/`) ? path.slice(base.length) : path
}

function headersOf({ sentence, headers = {} }: Omit<Refusal, 'status'>): Readonly<Record<string, string>> {
  return { ...PLAIN, ...headers, 'Content-Length': String(Buffer.byteLength(sentence) + 1) }
}

function refuse(wire: Duplex, { status, sentence, headers }: Refusal): void {
  const all = { ...headersOf({ sentence, headers }), Connection: 'close' }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  wire.once('finish', () => wire.destroy())
  wire.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${sentence}\n`)
}
