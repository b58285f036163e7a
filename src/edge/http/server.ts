/** The listener of one address: HTTP/1.1, or with a certificate TLS with HTTP/1.1 and HTTP/2 on one port. */
import { type IncomingMessage, type Server as PlainServer, type ServerResponse, createServer } from 'node:http'
import { type Http2Server, type ServerHttp2Session, createServer as createHttp2Server } from 'node:http2'
import type { Server as Listening, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { type Server as TlsServer, type TLSSocket, createServer as createTlsServer } from 'node:tls'
import { fail, reasonOf } from '../../errors/parley-error.ts'

/** Of one port. Those without a credential make room for each other long before. */
const MAX_SOCKETS = 8_192
const HEADER_BYTES = 16 * 1024

/** How long the headers of a request, and all of it, may take; and how late a connection that takes longer is noticed. */
export interface RequestTimes {
  readonly headersMs: number
  readonly requestMs: number
  readonly checkMs: number
}

const REQUEST_TIMES: RequestTimes = { headersMs: 10_000, requestMs: 30_000, checkMs: 1_000 }
/** Longer than proxies keep an idle connection. Otherwise a proxy could use one that was just closed, and lose a request. */
const KEEP_ALIVE_MS = 75_000
/** Requests of one HTTP/2 connection that are open at once. */
const MAX_STREAMS = 100

export interface Tls {
  readonly cert: Buffer
  readonly key: Buffer
  /** Clients show a certificate that one of these has signed, besides their credential. */
  readonly clientCa?: Buffer | undefined
}

export interface Handlers {
  request(request: IncomingMessage, response: ServerResponse): void
  upgrade(request: IncomingMessage, wire: Duplex, head: Buffer): void
}

/** With TLS, `listening` decrypts and the others serve. */
export class HttpServer {
  /** What has the address. */
  readonly listening: Listening
  readonly #plain: PlainServer
  readonly #tls: TlsServer | undefined
  readonly #sessions = new Set<ServerHttp2Session>()

  /** Throws CONFIG_INVALID. */
  constructor(tls: Tls | undefined, handlers: Handlers, times = REQUEST_TIMES) {
    this.#plain = createServer({
      headersTimeout: times.headersMs,
      requestTimeout: times.requestMs,
      maxHeaderSize: HEADER_BYTES,
      keepAliveTimeout: KEEP_ALIVE_MS,
      connectionsCheckingInterval: times.checkMs,
    })
    this.#plain.on('request', (request, response) => handlers.request(request, response))
    this.#plain.on('upgrade', (request, wire, head) => handlers.upgrade(request, wire, head))
    this.#tls = tls && this.#encrypted(tls, handlers)
    this.listening = this.#tls ?? this.#plain
    this.listening.maxConnections = MAX_SOCKETS
    this.listening.on('connection', keepAlive)
  }

  /** For new connections. Throws CONFIG_INVALID. */
  renew({ cert, key, clientCa }: Tls): void {
    try {
      this.#tls?.setSecureContext({ ...secure({ cert, key, clientCa }), minVersion: 'TLSv1.2' })
    } catch (error) {
      failCertificate(error)
    }
  }

  /** Accepts no more clients. Those that wait for an answer get it. */
  close(): void {
    this.listening.close()
    this.#plain.closeIdleConnections()
  }

  destroy(): void {
    this.listening.close()
    this.#plain.closeAllConnections()
    for (const session of this.#sessions) session.destroy()
  }

  #encrypted(tls: Tls, handlers: Handlers): TlsServer {
    const http2 = http2Server(handlers)
    http2.on('session', (session) => {
      this.#sessions.add(session)
      session.once('close', () => this.#sessions.delete(session))
    })
    const server = tlsServer(tls)
    // It listens nowhere, and looks after the time limits of its connections only after its `listening` event.
    this.#plain.emit('listening')
    server.on('secureConnection', (socket: TLSSocket) => {
      const carried = socket.alpnProtocol === 'h2' ? http2 : this.#plain
      carried.emit('connection', socket)
    })
    // A client that breaks off a handshake, or does not like the certificate.
    server.on('tlsClientError', (_error, socket) => socket.destroy())
    return server
  }
}

function http2Server(handlers: Handlers): Http2Server {
  const server = createHttp2Server({
    settings: { maxConcurrentStreams: MAX_STREAMS, maxHeaderListSize: HEADER_BYTES, enableConnectProtocol: false },
    maxHeaderListPairs: 100,
    maxSessionMemory: 32,
    unknownProtocolTimeout: REQUEST_TIMES.headersMs,
  })
  // Without a stream that sends, the client is gone, or never asks.
  Object.assign(server, { timeout: 2 * KEEP_ALIVE_MS })
  // Requests and responses of both versions have the same methods; what HTTP/2 has no use for it leaves out.
  server.on('request', (request, response) =>
    handlers.request(request as unknown as IncomingMessage, response as unknown as ServerResponse),
  )
  server.on('sessionError', () => undefined)
  return server
}

function tlsServer(tls: Tls): TlsServer {
  try {
    return createTlsServer({
      ...secure(tls),
      minVersion: 'TLSv1.2',
      handshakeTimeout: REQUEST_TIMES.headersMs,
      ALPNProtocols: ['h2', 'http/1.1'],
      ...(tls.clientCa !== undefined && { requestCert: true, rejectUnauthorized: true }),
    })
  } catch (error) {
    return failCertificate(error)
  }
}

/** Reports an error of files that passed our checks, such as a key that is too short. OpenSSL puts names of its parts in front. */
function failCertificate(error: unknown): never {
  const reason = `the library for TLS refuses it: ${reasonOf(error).split(':').at(-1)?.trim()}`
  return fail('CONFIG_INVALID', { key: '--tls-cert', reason }, error)
}

function secure({ cert, key, clientCa }: Tls): { cert: Buffer; key: Buffer; ca?: Buffer } {
  return { cert, key, ...(clientCa !== undefined && { ca: clientCa }) }
}

/** Notices that the reader of a stream is gone. */
function keepAlive(socket: Socket): void {
  socket.setKeepAlive(true, 20_000)
}
