/** `/acp`: clients that speak ACP, over WebSocket or Streamable HTTP. */
import { WebSocket, WebSocketServer } from 'ws'
import type { Clock } from '../../ports/clock.ts'
import { SharedLimits } from '../transport/streams.ts'
import type { Connections } from './connections.ts'
import type { Exchange } from './exchange.ts'
import { BodyBudget } from './admission/body-budget.ts'
import { refuseUpgrade } from './refuse-upgrade.ts'
import type { Route, Upgrade } from './routes.ts'
import { StreamableHttp } from './streamable/streamable-http.ts'
import { MANY_LINES, WebSocketTransport } from './websocket.ts'

const MAX_MESSAGE_BYTES = 16 * 1024 * 1024

/** Says why, too, where the package itself closes: it gives the code alone. */
class AcpWebSocket extends WebSocket {
  override close(code?: number, reason?: string | Buffer): void {
    super.close(code, reason ?? (code === 1009 ? 'A message has at most 16 MiB.' : undefined))
  }
}

export class AcpEndpoint implements Route {
  readonly path = '/acp'
  readonly methods = ['GET', 'POST', 'DELETE']
  readonly access = 'credential'
  readonly #connections: Connections
  readonly #clock: Pick<Clock, 'setTimer' | 'monotonicNow' | 'id'>
  readonly #limits = new SharedLimits()
  readonly #bodies = new BodyBudget()
  readonly #streamable: StreamableHttp
  readonly #webSockets = new WebSocketServer({
    noServer: true,
    WebSocket: AcpWebSocket,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: MAX_MESSAGE_BYTES,
    handleProtocols: (offered) => [MANY_LINES, 'acp.v1'].find((known) => offered.has(known)) ?? false,
  })

  constructor(connections: Connections, clock: Pick<Clock, 'setTimer' | 'monotonicNow' | 'id'>) {
    this.#connections = connections
    this.#clock = clock
    this.#streamable = new StreamableHttp({ clock, connections, unread: this.#limits.unread, bodies: this.#bodies })
    this.#webSockets.on('headers', (headers) => headers.push(`Acp-Connection-Id: ${clock.id()}`))
  }

  handle(exchange: Exchange): void | Promise<void> {
    return this.#streamable.handle(exchange)
  }

  upgrade({ request, wire, head, holder }: Upgrade): void {
    const refusal = this.#connections.refusalFor(holder)
    if (refusal !== undefined) return refuseUpgrade(wire, refusal)
    this.#webSockets.handleUpgrade(request, wire, head, (socket) => {
      const around = { clock: this.#clock, unread: this.#limits.unread, unfinished: this.#bodies.shareOf(holder.id) }
      const transport = new WebSocketTransport(socket, wire, around)
      wire.once('close', () => this.#connections.remove(transport))
      this.#connections.add(transport, holder, 'websocket')
    })
  }
}
