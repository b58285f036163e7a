/** A node of a cluster while it serves: its own clients, whose sessions may be anywhere, and those of other nodes whose sessions are here. */
import type { Principal } from '../../edge/access.ts'
import { serveConnection } from '../../edge/acp/connection.ts'
import type { ServerContext } from '../../edge/acp/version.ts'
import type { Transport } from '../../edge/transport/transport.ts'
import type { Clock } from '../../ports/clock.ts'
import type { LinkOrder } from './links/node-link.ts'
import type { NodeListener } from './links/node-listener.ts'
import { SessionEnd } from './links/session-end.ts'
import { ClientRouter } from './router/client-router.ts'
import { type Located, type NodeServices, SessionNodes } from './router/session-nodes.ts'

/** Sessions in memory, and turns that run. */
export interface NodeLoad {
  readonly sessions: number
  readonly working: number
}

export interface ClusterNodeOptions {
  readonly clock: Clock
  readonly token: string
  /** Absent where no other node can reach this one. */
  readonly listener: NodeListener | undefined
  locate(session: string): Promise<Located>
  report(error: unknown): void
}

export class ClusterNode implements NodeServices {
  readonly clock: Clock
  readonly token: string
  readonly #options: ClusterNodeOptions
  #contextOf: ((principal: Principal) => ServerContext) | undefined
  #load: () => NodeLoad = () => ({ sessions: 0, working: 0 })

  constructor(options: ClusterNodeOptions) {
    this.clock = options.clock
    this.token = options.token
    this.#options = options
  }

  /** From now on clients are served, and those of other nodes too. */
  begin(contextOf: (principal: Principal) => ServerContext, load: () => NodeLoad): void {
    this.#contextOf = contextOf
    this.#load = load
    this.#options.listener?.begin({
      token: this.token,
      refusalOf: () => undefined,
      serve: (transport, order) => this.serve(new SessionEnd(transport), order),
    })
  }

  get load(): NodeLoad {
    return this.#load()
  }

  /** Serves a client of this node until it closes its side. */
  async serveClient(client: Transport, context: ServerContext): Promise<void> {
    const router = new ClientRouter(client, new SessionNodes(context.principal, this))
    await router.serve((main) => serveConnection(main, context))
  }

  locate(session: string): Promise<Located> {
    return this.#options.locate(session)
  }

  serve(end: SessionEnd, order: LinkOrder): void {
    const context = this.#contextOf?.(order.principal)
    if (context === undefined) return end.destroy()
    serveConnection(end, context)
      .catch((error: unknown) => this.report(error))
      .finally(() => void end.close())
  }

  note(_sentence: string): void {
    // The client sees for itself that its session goes on.
  }

  report(error: unknown): void {
    this.#options.report(error)
  }

  close(): void {
    this.#options.listener?.close()
  }
}
