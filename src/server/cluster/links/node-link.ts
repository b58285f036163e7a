/** How one node connects to another on behalf of a client: over WebSocket, with the token of the cluster and the identity of the client. */
import type { IncomingHttpHeaders } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Principal } from '../../../edge/method-access.ts'
import { ParleyError, reasonOf } from '../../../errors/parley-error.ts'
import { MAX_MESSAGE_BYTES } from '../../../rpc/framing.ts'
import { WebSocketStream } from '../../../relay/websocket-stream.ts'

const HANDSHAKE_MS = 3_000
/** A node of which nothing is heard in twice this time is asked for no more: its sessions may be on another one soon. */
const PING_MS = 1_500

/** The path of these connections, and the header that says for whom one is. */
export const LINK_PATH = '/node'
export const ON_BEHALF = 'parley-on-behalf'
/** And the one by which both sides say which server of the database is in use. */
export const TIMELINE = 'parley-timeline'

/** A server that was promoted makes the former one wrong, also for a node that still reaches only that one. */
export interface Timelines {
  /** To other nodes; undefined while nothing is known. */
  readonly said: string | undefined
  /** From another node. */
  heard(said: string): void
}

/** Who opens a link: a node, or a command, which has no timeline. */
export interface LinkCaller {
  /** The secret of the cluster. */
  readonly token: string
  readonly timeline?: Timelines | undefined
}

export interface ReachableNode {
  readonly name: string
  /** `ws://HOST:PORT`; empty where it cannot be reached. */
  readonly address: string
}

/** What a link is for. */
export interface LinkOrder {
  readonly principal: Principal
  /** Absent: one that is to be made. */
  readonly session?: string | undefined
}

/** Throws NODE_SILENT. */
export async function openNodeLink(node: ReachableNode, caller: LinkCaller, order: LinkOrder): Promise<Duplex> {
  const { WebSocket } = await import('ws')
  if (node.address === '') throw silent(node, 'it has no address for other nodes')
  const { waitForSession: _limit, ...principal } = order.principal
  const socket = new WebSocket(`${node.address}${LINK_PATH}`, ['parley.lines.v1'], {
    headers: {
      authorization: `Bearer ${caller.token}`,
      ...(caller.timeline?.said !== undefined && { [TIMELINE]: caller.timeline.said }),
      [ON_BEHALF]: Buffer.from(JSON.stringify({ ...order, principal })).toString('base64url'),
    },
    handshakeTimeout: HANDSHAKE_MS,
    perMessageDeflate: false,
    maxPayload: 8 * MAX_MESSAGE_BYTES,
  })
  return new Promise((resolve, reject) => {
    socket.once('upgrade', ({ headers }) => hearTimeline(headers, caller.timeline))
    socket.once('open', () => {
      const stream = new WebSocketStream(socket, PING_MS)
      // Its reader sees it end.
      stream.on('error', () => undefined)
      resolve(stream)
    })
    socket.on('error', (error) => reject(silent(node, reasonOf(error))))
    socket.once('unexpected-response', (_request, { statusCode }) => {
      socket.terminate()
      reject(silent(node, `it answers ${statusCode}`))
    })
  })
}

/** What the other side says is known from now on. */
export function hearTimeline(headers: IncomingHttpHeaders, timeline: Timelines | undefined): void {
  const said = headers[TIMELINE]
  if (typeof said === 'string') timeline?.heard(said)
}

function silent({ name }: ReachableNode, reason: string): ParleyError {
  return new ParleyError('NODE_SILENT', { node: name, reason })
}
