/** How the connection of one client reaches the node that has a session: this one or another. */
import type { Duplex } from 'node:stream'
import type { Principal } from '../../../edge/method-access.ts'
import { openStreamTransport } from '../../../edge/transport/streams.ts'
import type { Clock } from '../../../ports/clock.ts'
import { linkedPair } from '../links/linked-pair.ts'
import { type ReachableNode, openNodeLink } from '../links/node-link.ts'
import { SessionEnd } from '../links/session-end.ts'

export type Located =
  | { readonly kind: 'ours' | 'free' | 'absent' }
  | { readonly kind: 'elsewhere'; readonly node: ReachableNode }

export interface NodeServices {
  readonly clock: Clock
  readonly token: string
  locate(session: string): Promise<Located>
  /** The node for a session that no node has; undefined: this one. */
  place(): ReachableNode | undefined
  /** Serves one session of a client on this node. Throws NODE_SILENT while it is on its way to another one. */
  serve(end: SessionEnd, order: { readonly principal: Principal; readonly session?: string | undefined }): void
  note(sentence: string): void
  report(error: unknown): void
}

export class SessionNodes {
  readonly clock: Clock
  readonly #services: NodeServices
  readonly #principal: Principal

  constructor(principal: Principal, services: NodeServices) {
    this.clock = services.clock
    this.#services = services
    this.#principal = principal
  }

  newId(): string {
    return this.clock.id()
  }

  note(sentence: string): void {
    this.#services.note(sentence)
  }

  report(error: unknown): void {
    this.#services.report(error)
  }

  /**
   * To the node that has the session; where none has, to this one, which claims it then, unless it drains. A new one is made here
   * likewise, and a fork where its `source` is. Throws NODE_SILENT and CLUSTER_UNREACHABLE.
   */
  async connect(session: string | undefined, source: string | undefined): Promise<Duplex> {
    const named = session ?? source
    const located = named === undefined ? undefined : await this.#services.locate(named)
    const order = { principal: this.#principal, session }
    const isFree = located === undefined || located.kind === 'free'
    const node = located?.kind === 'elsewhere' ? located.node : isFree ? this.#services.place() : undefined
    return node === undefined ? this.#here(order) : openNodeLink(node, this.#services.token, order)
  }

  #here(order: { readonly principal: Principal; readonly session: string | undefined }): Duplex {
    const [front, back] = linkedPair()
    this.#services.serve(new SessionEnd(openStreamTransport(back, back), order.session), order)
    return front
  }
}
