/** How the connection of one client reaches the node that has a session: this one or another. */
import type { Duplex } from 'node:stream'
import type { Principal } from '../../../edge/method-access.ts'
import { openStreamTransport } from '../../../edge/transport/streams.ts'
import type { Clock } from '../../../ports/clock.ts'
import { linkedPair } from '../links/linked-pair.ts'
import type { LinkOrder } from '../links/node-link.ts'
import type { LinkedNode, OpenLinks } from '../links/open-links.ts'
import { SessionEnd } from '../links/session-end.ts'
import type { Wish } from '../placement.ts'

export type Located =
  | { readonly kind: 'ours' | 'free' | 'absent' }
  | { readonly kind: 'elsewhere'; readonly node: LinkedNode }

/** What a session is made of, as long as it has no id: a copy of `source`, or what the client asked for. */
export interface Made {
  readonly source?: string | undefined
  readonly wish: Wish
}

export interface NodeServices {
  readonly clock: Clock
  readonly links: Pick<OpenLinks, 'open'>
  locate(session: string): Promise<Located>
  /** The node for a new session; undefined: this one. Throws NO_NODE_SERVES. */
  place(wish: Wish): Promise<LinkedNode | undefined>
  /** The node for a stored session that no node has. */
  placeFree(session: string): Promise<LinkedNode | undefined>
  /** Serves one session of a client on this node. Throws NODE_SILENT while it is on its way to another one. */
  serve(end: SessionEnd, order: LinkOrder): void
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
   * To the node that has the session; where none has, to one that serves its directory, which claims it then: this one, if it does.
   * A new one is made likewise, and a fork where its source is. Throws NODE_SILENT, NO_NODE_SERVES and CLUSTER_UNREACHABLE.
   */
  async connect(session: string | undefined, made: Made): Promise<Duplex> {
    const named = session ?? made.source
    const order = { principal: this.#principal, session }
    const node = await (named === undefined ? this.#services.place(made.wish) : this.#nodeOf(named))
    return node === undefined ? this.#here(order) : this.#services.links.open(node, order)
  }

  async #nodeOf(session: string): Promise<LinkedNode | undefined> {
    const located = await this.#services.locate(session)
    if (located.kind === 'elsewhere') return located.node
    return located.kind === 'free' ? this.#services.placeFree(session) : undefined
  }

  #here(order: LinkOrder): Duplex {
    const [front, back] = linkedPair()
    this.#services.serve(new SessionEnd(openStreamTransport(back, back), order.session), order)
    return front
  }
}
