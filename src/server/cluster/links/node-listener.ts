/** The listener for the other nodes of the cluster. A caller with the cluster's token may act for any client. */
import { createHash, timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { WebSocketServer } from 'ws'
import { type ListenAddress, shownAddress } from '../../../config/listen.ts'
import { refuseUpgrade } from '../../../edge/http/refuse-upgrade.ts'
import { HttpServer, type Tls } from '../../../edge/http/server.ts'
import { WebSocketTransport } from '../../../edge/http/websocket.ts'
import { SharedLimits } from '../../../edge/transport/streams.ts'
import type { Transport } from '../../../edge/transport/transport.ts'
import { fail, reasonOf } from '../../../errors/parley-error.ts'
import type { Clock } from '../../../ports/clock.ts'
import { MAX_MESSAGE_BYTES } from '../../../rpc/framing.ts'
import { LINK_PATH, type LinkOrder, ON_BEHALF, TIMELINE, type Timelines, hearTimeline } from './node-link.ts'

/** Of all clients of all other nodes. */
const MOST_LINKS = 65_536

export interface LinkHandler {
  /** The secret of the cluster. */
  readonly token: string
  readonly timeline: Timelines
  /** Why this node does not take it; undefined when it does. */
  refusalOf(order: LinkOrder): string | undefined
  serve(transport: Transport, order: LinkOrder): void
}

export class NodeListener {
  readonly #server: HttpServer
  readonly #scheme: string
  readonly #clock: Clock
  readonly #limits = new SharedLimits()
  readonly #webSockets = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: 8 * MAX_MESSAGE_BYTES,
  })
  #handler: LinkHandler | undefined

  /** Throws LISTEN_FAILED and CONFIG_INVALID. Refuses everything until `begin`. */
  static async open(address: ListenAddress, tls: Tls | undefined, clock: Clock): Promise<NodeListener> {
    const listener = new NodeListener(tls, clock)
    const { listening } = listener.#server
    try {
      listening.listen(address.port, address.host)
      await once(listening, 'listening')
    } catch (error) {
      return fail('LISTEN_FAILED', { address: shownAddress(address), reason: reasonOf(error) }, error)
    }
    listening.maxConnections = MOST_LINKS
    listening.on('error', () => undefined)
    // The sessions of its own clients keep a process alive, and nothing else of this.
    listening.unref()
    return listener
  }

  private constructor(tls: Tls | undefined, clock: Clock) {
    this.#scheme = tls === undefined ? 'ws' : 'wss'
    this.#clock = clock
    this.#webSockets.on('headers', (headers) => {
      const said = this.#handler?.timeline.said
      if (said !== undefined) headers.push(`${TIMELINE}: ${said}`)
    })
    this.#server = new HttpServer(tls, {
      request: (_request, response) => void response.writeHead(404).end(),
      upgrade: (request, wire, head) => this.#upgrade(request, wire, head),
    })
  }

  /** `advertised` has the port of a free one that was chosen, if it says 0. */
  addressOf(advertised: ListenAddress): string {
    const { port } = this.#server.listening.address() as AddressInfo
    return `${this.#scheme}://${shownAddress({ ...advertised, port: advertised.port === 0 ? port : advertised.port })}`
  }

  begin(handler: LinkHandler): void {
    this.#handler = handler
  }

  close(): void {
    this.#handler = undefined
    this.#server.destroy()
  }

  #upgrade(request: IncomingMessage, wire: Duplex, head: Buffer): void {
    wire.on('error', () => wire.destroy())
    const handler = this.#handler
    if (handler === undefined) return refuseUpgrade(wire, { status: 503, sentence: 'This node does not serve.' })
    const order = request.url === LINK_PATH && isNode(request, handler.token) ? orderOf(request) : undefined
    if (order === undefined) return refuseUpgrade(wire, { status: 401, sentence: 'This is for nodes of the cluster.' })
    const refusal = handler.refusalOf(order)
    hearTimeline(request.headers, handler.timeline)
    if (refusal !== undefined) return refuseUpgrade(wire, { status: 409, sentence: refusal })
    this.#webSockets.handleUpgrade(request, wire, head, (socket) => {
      // A node is no stranger.
      const unfinished = { set: () => true }
      const transport = new WebSocketTransport(socket, wire, {
        clock: this.#clock,
        unread: this.#limits.unread,
        unfinished,
      })
      transport.initialized()
      handler.serve(transport, order)
    })
  }
}

/** No page of a browser is a node, whatever it knows. */
function isNode({ headers }: IncomingMessage, token: string): boolean {
  const [, given = ''] = /^Bearer (.+)$/u.exec(headers.authorization ?? '') ?? []
  return headers.origin === undefined && timingSafeEqual(digest(given), digest(token))
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

function orderOf({ headers }: IncomingMessage): LinkOrder | undefined {
  const text = headers[ON_BEHALF]
  if (typeof text !== 'string') return undefined
  try {
    // Another node of this cluster has written it, of this version or the one before.
    return JSON.parse(Buffer.from(text, 'base64url').toString()) as LinkOrder
  } catch {
    return undefined
  }
}
