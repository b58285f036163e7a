/** A node of a cluster while it serves: its own clients, whose sessions may be on any node, and clients of other nodes whose sessions are here. */
import { waitAtMost } from '../../async/with-timeout.ts'
import type { Principal } from '../../edge/method-access.ts'
import { serveConnection } from '../../edge/acp/connection.ts'
import type { ServerContext } from '../../edge/acp/version.ts'
import type { Transport } from '../../edge/transport/transport.ts'
import { fail, isParleyError } from '../../errors/parley-error.ts'
import type { Clock } from '../../ports/clock.ts'
import { fieldsOf } from '../../rpc/json-rpc.ts'
import type { CountedAnswer, OutsideAnswer } from '../../session/handle.ts'
import type { SessionRegistry } from '../../session/session-registry.ts'
import type { AnsweredSessions } from '../push/push-desk.ts'
import type { LinkOrder, Timelines } from './links/node-link.ts'
import type { NodeListener } from './links/node-listener.ts'
import { type LinkedNode, OpenLinks } from './links/open-links.ts'
import { SessionEnd } from './links/session-end.ts'
import { type NodePurpose, type PlacedNode, type Wish, lessBusy, suits, wished } from './placement.ts'
import { NodeClients } from './router/node-clients.ts'
import type { Located, NodeServices } from './router/session-nodes.ts'

/** How long a client may take to let go of a session that moves; then its connection is cut, and it resumes. */
const LEAVE_MS = 3_000
/** How long a node that stops may give its sessions away. */
const STOP_MS = 5_000
/** Sessions that move at once. */
const AT_ONCE = 16
/** Before another try to move a session in which a turn has begun meanwhile. */
const PAUSE_MS = 50

export interface OtherNode extends PlacedNode {
  readonly boot: string
  readonly startedAt: number
}

/** The other nodes. */
export interface NodeTable {
  /** Those that live, as of the last beat or look. */
  readonly others: readonly OtherNode[]
  /** Reads who they are now. Throws CLUSTER_UNREACHABLE. */
  look(): Promise<void>
  /** Undefined when the node is not one of the cluster any more. Throws CLUSTER_UNREACHABLE. */
  living(boot: string): Promise<object | undefined>
}

/** What the tables of the cluster say, and what this node says there. */
export interface ClusterTables {
  locate(session: string): Promise<Located>
  /** Undefined where there is no such session. */
  cwdOf(session: string): Promise<string | undefined>
  readonly nodes: NodeTable
  /** Of the database with the nodes. */
  readonly timeline: Timelines
  /** A session that is not in memory is of the node `boot` from now on. False if it was not this node's to give. */
  give(session: string, boot: string): Promise<boolean>
  /** All sessions of this node are free. */
  disown(): Promise<void>
}

async function isLiving(nodes: NodeTable, boot: string): Promise<boolean> {
  return (await nodes.living(boot)) !== undefined
}

export interface ClusterNodeOptions {
  readonly purpose: NodePurpose
  readonly clock: Clock
  readonly token: string
  /** Absent where no other node can reach this one. */
  readonly listener: NodeListener | undefined
  readonly tables: ClusterTables
  report(error: unknown): void
}

export class ClusterNode implements NodeServices {
  readonly clock: Clock
  readonly links: OpenLinks
  readonly #options: ClusterNodeOptions
  readonly #clients: NodeClients
  /** What is served of sessions, each until it has ended. */
  readonly #ends = new Map<SessionEnd, Promise<void>>()
  /** Sessions that no client reaches for the moment. */
  readonly #moving = new Set<string>()
  #contextOf: ((principal: Principal) => ServerContext) | undefined
  #sessions: () => SessionRegistry | undefined = () => undefined
  #isDraining = false
  /** It stops: no session comes into its memory any more. */
  #isLeaving = false

  constructor(options: ClusterNodeOptions) {
    this.clock = options.clock
    this.#options = options
    const { token, tables } = options
    const isKnown = (boot: string) => isLiving(tables.nodes, boot)
    this.links = new OpenLinks({ token, timeline: tables.timeline, isLiving: isKnown })
    this.#clients = new NodeClients(this)
  }

  /** From now on clients are served, and those of other nodes too. `sessions` answers once they can be served. */
  begin(contextOf: (principal: Principal) => ServerContext, sessions: () => SessionRegistry | undefined): void {
    this.#contextOf = contextOf
    this.#sessions = sessions
    this.#options.listener?.begin({
      token: this.#options.token,
      timeline: this.#options.tables.timeline,
      refusalOf: ({ session = '' }) => this.#refusalOf(session),
      serve: (transport, order) => this.serve(new SessionEnd(transport, order.session), order),
    })
  }

  /** What the other nodes see of it. */
  get load(): { readonly sessions: number; readonly working: number; readonly isDraining: boolean } {
    const { sessions = 0, working = 0 } = this.#sessions()?.counts() ?? {}
    return { sessions, working, isDraining: this.#isDraining }
  }

  /** Serves a client of this node until it closes its side. */
  async serveClient(client: Transport, context: ServerContext): Promise<void> {
    await this.#clients.serve(client, context)
  }

  async locate(session: string): Promise<Located> {
    this.#requireNotMoving(session)
    const { tables } = this.#options
    const located = await tables.locate(session)
    this.#requireNotMoving(session)
    const isLeft = this.#isDraining && located.kind === 'ours' && !this.#inMemory().includes(session)
    if (!isLeft || this.#takers().length === 0) return located
    const cwd = await tables.cwdOf(session)
    await this.#tryMove(session, () => this.#taker(cwd))
    return tables.locate(session)
  }

  async place(wish: Wish): Promise<LinkedNode | undefined> {
    const isOurs = suits(this.#options.purpose, wish)
    if (isOurs && !this.#isDraining) return undefined
    const suiting = () => this.#drawn(this.#takers().filter((taker) => suits(taker, wish)))
    // One that has just come is not known before the next beat.
    if (!isOurs && suiting() === undefined) await this.#options.tables.nodes.look()
    return suiting() ?? (isOurs ? undefined : fail('NO_NODE_SERVES', { cwd: wish.cwd, wanted: wished(wish) }))
  }

  async placeFree(session: string): Promise<LinkedNode | undefined> {
    const cwd = await this.#options.tables.cwdOf(session)
    if (cwd === undefined || (suits(this.#options.purpose, { cwd }) && !this.#isDraining)) return undefined
    const takers = this.#takers()
    const suiting = takers.filter((taker) => suits(taker, { cwd }))
    // Where none serves its directory it can still be read: here, if this node stays.
    return this.#drawn(suiting.length > 0 || !this.#isDraining ? suiting : takers)
  }

  /** No other node counts this one out for so many milliseconds. Its clients leave the nodes that were counted out. */
  renewed(ms: number): void {
    this.#clients.renewed(ms)
    void this.links.cutDead(this.#options.tables.nodes.others)
  }

  /** Another node has claimed the session. Clients go there, before they see how it ends here. */
  lost(session: string): void {
    for (const end of this.#ends.keys()) if (end.session === session) end.destroy()
  }

  serve(end: SessionEnd, order: LinkOrder): void {
    if (order.session !== undefined) this.#requireNotMoving(order.session)
    const context = this.#contextOf?.(order.principal)
    if (context === undefined) return end.destroy()
    const methods = { ...context.methods, ...this.#methods() }
    const served = serveConnection(end, { ...context, methods })
      .catch((error: unknown) => this.report(error))
      .then(() => end.close())
      .finally(() => this.#ends.delete(end))
    this.#ends.set(end, served)
  }

  /** Between two turns, so that its clients notice nothing. Throws NODE_ABSENT, and SESSION_ELSEWHERE if it is not this node's. */
  async move(session: string, to: string): Promise<void> {
    await this.#options.tables.nodes.look()
    await this.#moveTo(session, () => this.#named(to))
  }

  /**
   * Takes no new sessions, and gives away those that it has, each once no turn of it runs. Throws NODE_ABSENT, also when the last
   * other node goes away meanwhile; then this one takes sessions again.
   */
  async drain(): Promise<void> {
    await this.#options.tables.nodes.look()
    this.#taker()
    this.#isDraining = true
    try {
      while (this.#inMemory().length > 0) await this.#giveAll((session) => this.#giveAway(session))
    } catch (error) {
      this.#isDraining = false
      throw error
    }
    await this.#options.tables.disown()
  }

  /** The sessions of this node, of which a question is answered wherever it is asked. */
  everywhere(sessions: SessionRegistry): AnsweredSessions {
    return {
      watch: (listener) => sessions.watch(listener),
      find: (id) => sessions.find(id),
      answer: (id, answer) => this.#answer(id, answer),
    }
  }

  /** The node stops: gives away in a short time the sessions whose turns survive it. Never throws. */
  async leave(): Promise<void> {
    this.#isDraining = true
    this.#isLeaving = true
    const mayGo = (session: string) => this.#sessions()?.mayUnload(session) !== false
    const hasTaker = this.#takers().length > 0
    const left = this.#giveAll(async (session) => {
      if (hasTaker && mayGo(session)) await this.#giveAway(session)
    })
    await waitAtMost(
      left.catch((error: unknown) => this.report(error)),
      { clock: this.clock, ms: STOP_MS },
    )
  }

  note(_sentence: string): void {
    // The client sees for itself that its session continues.
  }

  report(error: unknown): void {
    this.#options.report(error)
  }

  close(): void {
    this.#clients.end()
    this.#options.listener?.close()
    for (const end of this.#ends.keys()) end.destroy()
  }

  async #answer(session: string, answer: OutsideAnswer): Promise<CountedAnswer> {
    const context = this.#contextOf?.({ transport: 'http', isLocalUser: false, role: 'approve', name: answer.by })
    return context === undefined ? fail('SERVER_STOPPING', {}) : this.#clients.answer(session, answer, context)
  }

  #methods() {
    return {
      '_parley/cluster/move': async (params: unknown) => {
        const { session, node } = fieldsOf(params)
        await this.move(String(session), String(node))
        return {}
      },
      '_parley/cluster/drain': async () => {
        await this.drain()
        return {}
      },
    }
  }

  async #giveAll(give: (session: string) => Promise<void>): Promise<void> {
    const sessions = [...this.#inMemory()]
    const work = async (): Promise<void> => {
      for (let session = sessions.pop(); session !== undefined; session = sessions.pop()) await give(session)
    }
    await Promise.all(Array.from({ length: AT_ONCE }, work))
  }

  async #giveAway(session: string): Promise<void> {
    try {
      const cwd = await this.#options.tables.cwdOf(session)
      await this.#moveTo(session, () => this.#taker(cwd))
    } catch (error) {
      // Out of memory it is in any case.
      if (!isParleyError(error, 'SESSION_ELSEWHERE') && !isParleyError(error, 'SESSION_NOT_FOUND')) throw error
    }
  }

  async #moveTo(session: string, taker: () => OtherNode): Promise<void> {
    while (!(await this.#tryMove(session, taker))) await this.clock.sleep(PAUSE_MS)
  }

  /** False where a turn began meanwhile: its clients come back. `taker` is asked once the session may go. */
  async #tryMove(session: string, taker: () => OtherNode): Promise<boolean> {
    taker()
    const sessions = this.#sessions()
    if (sessions === undefined) return false
    await sessions.untilRested(session)
    // Its client has the id then.
    await Promise.all([...this.#ends.keys()].map((end) => end.made()))
    const { boot } = taker()
    this.#moving.add(session)
    try {
      await this.#sendAway(session)
      return await sessions.unload(session, () => this.#give(session, boot))
    } finally {
      this.#moving.delete(session)
    }
  }

  async #give(session: string, boot: string): Promise<void> {
    const { tables, purpose } = this.#options
    if (await tables.give(session, boot)) return
    const located = await tables.locate(session)
    if (located.kind === 'absent') fail('SESSION_NOT_FOUND', { session })
    if (located.kind === 'elsewhere') fail('SESSION_ELSEWHERE', { session, node: located.node.name })
    fail('NODE_SILENT', { node: purpose.name, reason: 'it has the session no more' })
  }

  #requireNotMoving(session: string): void {
    if (this.#moving.has(session))
      fail('NODE_SILENT', { node: this.#options.purpose.name, reason: 'the session moves' })
  }

  /** Why a front that comes for the session has to look for another node. */
  #refusalOf(session: string): string | undefined {
    if (this.#moving.has(session)) return 'The session moves.'
    return this.#isLeaving && !this.#inMemory().includes(session) ? 'The node stops.' : undefined
  }

  #inMemory(): readonly string[] {
    return this.#sessions()?.inMemory() ?? []
  }

  /** Resolves when no client has a connection for the session here, and all that they sent was handled. */
  async #sendAway(session: string): Promise<void> {
    const leaving = [...this.#ends].filter(([end]) => end.session === session)
    for (const [end] of leaving) end.move()
    await waitAtMost(Promise.all(leaving.map(([, served]) => served)), { clock: this.clock, ms: LEAVE_MS })
    for (const [end] of leaving) end.destroy()
  }

  /** The node of this name or boot; of two of one name the newer one, because the other has ended. Throws NODE_ABSENT. */
  #named(to: string): OtherNode {
    const named = this.#options.tables.nodes.others.filter(({ name, boot }) => name === to || boot === to)
    const node = named.toSorted((left, right) => right.startedAt - left.startedAt)[0]
    if (node === undefined || node.isDraining) return fail('NODE_ABSENT', { node: node?.name ?? to })
    return node
  }

  /** One that serves the directory, if any does. Throws NODE_ABSENT. */
  #taker(cwd?: string): OtherNode {
    const takers = this.#takers()
    const suiting = cwd === undefined ? [] : takers.filter((taker) => suits(taker, { cwd }))
    return this.#drawn(suiting.length > 0 ? suiting : takers) ?? fail('NODE_ABSENT', { node: 'besides this one' })
  }

  #takers(): readonly OtherNode[] {
    return this.#options.tables.nodes.others.filter(({ isDraining, address }) => !isDraining && address !== '')
  }

  #drawn(nodes: readonly OtherNode[]): OtherNode | undefined {
    return lessBusy(nodes, (below) => Number.parseInt(this.clock.id().slice(0, 8), 16) % below)
  }
}
