/** All sessions of one server: creates, opens, closes, deletes and recovers them, and keeps those in memory that are in use. */
import { waitAtMost } from '../async/with-timeout.ts'
import { fail, isParleyError } from '../errors/parley-error.ts'
import type { Cursor, ListQuery, SessionChange, SessionId, SessionPhase, SessionSummary } from '../ports/journal.ts'
import type { Grant } from '../ports/rules.ts'
import type { McpServer } from '../ports/tools.ts'
import { SessionAgents, agentCapabilities } from './session-agents.ts'
import type { Command } from './domain/commands.ts'
import {
  type EndedPrompt,
  type Existing,
  type State,
  absent,
  isAtWork,
  isBusy,
  mayUnload,
  rowOf,
} from './domain/state.ts'
import { parseTitle } from './domain/title.ts'
import type {
  CountedAnswer,
  OutsideAnswer,
  QueueChange,
  SessionConfig,
  SessionDirectory,
  SessionProcess,
} from './handle.ts'
import { answerFromOutside } from './lifecycle/answer-from-outside.ts'
import { conversationsToForget } from './lifecycle/conversations.ts'
import { type OutlinePrompt, promptOutlineOf } from './log/find-entries.ts'
import { exportPage } from './lifecycle/export-session.ts'
import { forkSession } from './lifecycle/fork.ts'
import { loadState, retryRead, SessionLog } from './log/session-log.ts'
import { type PageQuery, type SessionPage, readPage } from './log/read-page.ts'
import { Session } from './session.ts'
import type { SessionPorts } from './session-ports.ts'

const UNFINISHED: readonly SessionPhase[] = ['working', 'waiting']

/** How long `halt` waits for a session that is still being opened: a disk that hangs must not keep the server from stopping. */
const HALT_TIMEOUT_MS = 2_000

/** A session that is in memory, from the moment at which its opening begins. */
interface Live {
  readonly opening: Promise<Session>
  /** Absent while it is being opened. */
  session?: Session
}

export interface SessionCounts {
  readonly sessions: number
  /** Turns that run; a turn that waits for a user does not count. */
  readonly working: number
  /** Prompts that wait behind a turn. */
  readonly queued: number
  readonly mcpServers: number
}

/** A session is live at most once: who asks for one that is being opened, closed or unloaded waits until that is done. */
export class SessionRegistry implements SessionDirectory {
  readonly #ports: SessionPorts
  readonly #live = new Map<SessionId, Live>()
  /** Sessions that are being closed, deleted or unloaded; each promise resolves when that is done. */
  readonly #leaving = new Map<SessionId, Promise<undefined>>()
  /** The MCP servers of suspended turns whose session was unloaded. They may hold secrets, so they are never stored. */
  readonly #serversOfUnloaded = new Map<SessionId, readonly McpServer[]>()
  readonly #onOpened = new Set<(session: Session) => void>()
  readonly #onDeleted = new Set<(id: SessionId) => void>()
  #halting: Promise<void> | undefined

  constructor(ports: SessionPorts) {
    this.#ports = ports
  }

  async create(config: SessionConfig): Promise<Session> {
    this.#requireNotHalting()
    const id = this.#ports.clock.id()
    return this.#track(id, this.#create(id, config))
  }

  /**
   * Opens a stored session, or joins it where it is live. When the config names an agent that cannot be opened, the request is
   * refused, except for the session's own agent: the conversation can be read without it, and its next turn says what is wrong.
   */
  async open(id: SessionId, config: SessionConfig): Promise<Session> {
    return this.#withLive(id, async (session) => {
      if (session === undefined) {
        const opened = await this.#track(id, this.#load(id, config))
        for (const listener of this.#onOpened) listener(opened)
        return opened
      }
      requireSameCwd(session.existing, config)
      await session.applyConfig(config)
      return session
    })
  }

  async fork(id: SessionId, at?: Cursor): Promise<SessionId> {
    this.#requireNotHalting()
    return forkSession(this.#ports, id, at)
  }

  list(query: ListQuery): Promise<readonly SessionSummary[]> {
    return this.#ports.journal.list(query)
  }

  async find(id: SessionId): Promise<SessionSummary | undefined> {
    return (await this.#ports.journal.head(id))?.row
  }

  watch(listener: (change: SessionChange) => void): () => void {
    const { journal, report } = this.#ports
    return journal.watch((change) => {
      try {
        listener(change)
      } catch (error) {
        // What is stored is stored, whatever this client makes of it.
        report(error)
      }
    })
  }

  page(id: SessionId, query: PageQuery): Promise<SessionPage> {
    return retryRead(this.#ports.clock, () => readPage(this.#ports.journal, id, query))
  }

  async exportPage(id: SessionId, { after, upTo }: { readonly after: Cursor; readonly upTo?: Cursor }) {
    const row = await this.#stored(id)
    const lastSeq = Math.min(upTo ?? row.lastSeq, row.lastSeq)
    return retryRead(this.#ports.clock, () => exportPage(this.#ports.journal, { ...row, lastSeq }, after))
  }

  async outline(id: SessionId): Promise<readonly OutlinePrompt[]> {
    await this.#stored(id)
    return promptOutlineOf(this.#ports.journal, id)
  }

  async answer(id: SessionId, answer: OutsideAnswer): Promise<CountedAnswer> {
    const { cwd, additionalDirectories, phase } = await this.#stored(id)
    const live = await this.#withLive(id, async (session) => session)
    const waits = phase === 'suspended' || phase === 'waiting'
    const session = live ?? (waits ? await this.open(id, { cwd, additionalDirectories, mcpServers: [] }) : undefined)
    return answerFromOutside({ id, journal: this.#ports.journal, session }, answer)
  }

  async changeQueue(id: SessionId, change: QueueChange): Promise<boolean> {
    await this.#stored(id)
    const { kind, promptId } = change
    const before = await this.#stateOf(id)
    const waits = isBusy(before) && before.queue.some((queued) => queued.promptId === promptId)
    if (waits) await this.#dispatch(id, change)
    if (kind === 'promote') return waits || (isBusy(before) && before.turn.promptId === promptId)
    // A turn of it may have begun meanwhile; and who asks again has withdrawn it before.
    const after = waits ? await this.#stateOf(id) : before
    return after.phase !== 'absent' && after.recentPrompts.some((one) => isWithdrawn(one, promptId))
  }

  /** Nothing waits in a session that is not in memory, but for behind a suspended turn. */
  #stateOf(id: SessionId): Promise<State> {
    return this.#withLive(id, async (session) => session?.state ?? loadState(this.#ports, id))
  }

  async #stored(id: SessionId): Promise<SessionSummary> {
    return (await this.find(id)) ?? fail('SESSION_NOT_FOUND', { session: id })
  }

  async rename(id: SessionId, title: string): Promise<void> {
    await this.#dispatch(id, { kind: 'rename', title: parseTitle(title) })
  }

  async revoke(id: SessionId, grant: Grant): Promise<void> {
    await this.#dispatch(id, { kind: 'revoke', grant })
  }

  releaseAgent(id: SessionId, when: 'idle' | 'now'): Promise<boolean> {
    return this.#withLive(id, async (session) => {
      if (session !== undefined) return session.releaseAgent(when)
      if ((await this.#ports.journal.head(id)) === undefined) fail('SESSION_NOT_FOUND', { session: id })
      return false
    })
  }

  close(id: SessionId): Promise<void> {
    return this.#withLive(id, async (session) => {
      if (session !== undefined) return this.#leave(id, session.close())
      if ((await this.#ports.journal.head(id)) === undefined) fail('SESSION_NOT_FOUND', { session: id })
    })
  }

  delete(id: SessionId): Promise<void> {
    return this.#withLive(id, (session) => this.#leave(id, this.#delete(id, session)))
  }

  /** The listeners are called before `open` resolves. */
  whenOpened(listener: (session: Session) => void): () => void {
    this.#onOpened.add(listener)
    return () => this.#onOpened.delete(listener)
  }

  /** Only of sessions that this server deletes. */
  whenDeleted(listener: (id: SessionId) => void): void {
    this.#onDeleted.add(listener)
  }

  /** For the status of the server. Does not wait for sessions that are being opened. */
  counts(): SessionCounts {
    const open = this.#open()
    return {
      sessions: open.length,
      working: this.atWork().length,
      queued: open.reduce((sum, { state }) => sum + (isBusy(state) ? state.queue.length : 0), 0),
      mcpServers: open.reduce((sum, { tools }) => sum + tools.connectedServers, 0),
    }
  }

  /** The processes of agents, for the status of the server. Does not wait for sessions that are being opened. */
  async agentProcesses(): Promise<readonly SessionProcess[]> {
    const statuses = this.#open().map(async (session) =>
      (await session.agentProcesses()).map((one) => Object.assign({ sessionId: session.id }, one)),
    )
    return (await Promise.all(statuses)).flat()
  }

  /** The sessions in which turns run now. */
  atWork(): readonly SessionId[] {
    return this.#open().flatMap(({ id, state }) => (isAtWork(state) ? [id] : []))
  }

  /** Those in memory, also while they are being opened. */
  inMemory(): readonly SessionId[] {
    return [...this.#live.keys()]
  }

  /** Whether unloading the session would interrupt no turn of it. Does not wait for a session that is being opened. */
  mayUnload(id: SessionId): boolean {
    const session = this.#live.get(id)?.session
    return session === undefined || mayUnload(session.state)
  }

  /** Resolves when unloading the session would interrupt no turn of it. */
  async untilRested(id: SessionId): Promise<void> {
    const session = await this.#live.get(id)?.opening.catch(() => undefined)
    await session?.untilRested()
  }

  /**
   * Puts the session out of memory, so that another node can have it, and does `afterwards` before it can be opened here again.
   * False while that would interrupt a turn.
   */
  unload(id: SessionId, afterwards: () => Promise<void>): Promise<boolean> {
    return this.#withLive(id, async (session) => {
      if (session !== undefined && !mayUnload(session.state)) return false
      await this.#leave(id, this.#unload(id, session, afterwards))
      return true
    })
  }

  /** What was stored of it last is not there any more, as `error` says: who opens it next reads what is. */
  async lose(id: SessionId, error: unknown): Promise<void> {
    const session = await this.#live.get(id)?.opening.catch(() => undefined)
    await session?.lose(error)
  }

  async #unload(id: SessionId, session: Session | undefined, afterwards: () => Promise<void>): Promise<void> {
    await session?.shutdown()
    this.#live.delete(id)
    await afterwards()
  }

  /**
   * Ends or suspends the turns that a crashed server left open. The server calls this before it serves a client, and a node of a
   * cluster once more when another one has died. A session that cannot be recovered does not stop the others: the next `open` tries
   * again and throws what is wrong.
   */
  async recover(): Promise<number> {
    const { faults, journal, ownership, report } = this.#ports
    await faults.at('recovery.started')
    const listed = await journal.list({ phases: UNFINISHED, limit: Number.MAX_SAFE_INTEGER })
    const unfinished = listed.filter(({ cwd }) => ownership?.takes(cwd) !== false)
    let recovered = 0
    for (const { id } of unfinished) if (await this.#recover(id).catch(report)) recovered += 1
    await faults.at('recovery.finished')
    return recovered
  }

  /** False for a session whose turn runs: here, or on another node. */
  async #recover(id: SessionId): Promise<boolean> {
    return this.#withLive(id, async (session) => {
      if (session !== undefined) return false
      try {
        await this.#leave(id, this.#dispatchToStored(id, { kind: 'halt' }))
        return true
      } catch (error) {
        if (isParleyError(error, 'SESSION_ELSEWHERE')) return false
        throw error
      }
    })
  }

  /** The server stops: shuts every session down, also those that are being opened or closed. Idempotent. */
  halt(): Promise<void> {
    this.#halting ??= this.#halt()
    return this.#halting
  }

  async #create(id: SessionId, config: SessionConfig): Promise<Session> {
    const { cwd, additionalDirectories, variables } = config
    const { agents: known } = this.#ports
    const agent = config.agent ?? (await known.resolveAgentName(known.default, { variables, cwd }))
    const agents = new SessionAgents(this.#ports, { id, isNew: true }, config)
    try {
      const { capabilities } = await agents.open(agent)
      const session = new Session(this.#ports, absent(id), agents)
      const create = session.dispatch({ kind: 'create', cwd, additionalDirectories, agent })
      await orDispose(session, Promise.all([create, session.dispatch(agentCapabilities(agent, capabilities))]))
      return this.#unloadWhenUnused(session)
    } catch (error) {
      await agents.close()
      throw error
    }
  }

  async #load(id: SessionId, config: SessionConfig): Promise<Session> {
    await this.#ports.ownership?.claim(id)
    const state = await retryRead(this.#ports.clock, () => loadState(this.#ports, id))
    if (state.phase === 'absent') return fail('SESSION_NOT_FOUND', { session: id })
    requireSameCwd(state, config)
    const agents = new SessionAgents(this.#ports, { id, isNew: false }, config)
    const capabilities = await agents.tryOpen(config.agent ?? state.agent, state.agent)
    const session = new Session(this.#ports, state, agents)
    const servers = this.#serversOfUnloaded.get(id)
    if (servers !== undefined && isBusy(state)) session.tools.restore(servers)
    await orDispose(session, prepare(session, config, capabilities))
    this.#serversOfUnloaded.delete(id)
    return this.#unloadWhenUnused(session)
  }

  /** While the session is being opened, other requests for it wait. */
  async #track(id: SessionId, opening: Promise<Session>): Promise<Session> {
    const live: Live = { opening }
    this.#live.set(id, live)
    try {
      const session = await opening
      live.session = session
      // `halt` may have stopped waiting for it.
      if (this.#halting !== undefined) await session.dispose()
      this.#requireNotHalting()
      return session
    } catch (error) {
      if (this.#live.get(id) === live) this.#live.delete(id)
      throw error
    }
  }

  /**
   * Calls `act` synchronously after the check that the session is neither being opened nor leaving. A session that failed to
   * open is not live: the client that opened it gets the error, and the next request tries again.
   */
  async #withLive<Result>(id: SessionId, act: (session: Session | undefined) => Promise<Result>): Promise<Result> {
    for (;;) {
      await this.#leaving.get(id)
      const live = this.#live.get(id)
      const session = await live?.opening.catch(() => undefined)
      this.#requireNotHalting()
      if (this.#leaving.has(id) || this.#live.get(id) !== live) continue
      if (session !== undefined && !session.closed.aborted) return act(session)
      this.#live.delete(id)
      return act(undefined)
    }
  }

  /** Until `left` settles, other requests for the session wait. Only this caller gets the error of a `left` that fails. */
  async #leave(id: SessionId, left: Promise<void>): Promise<void> {
    const leaving = left.then(
      () => this.#live.delete(id),
      () => false,
    )
    this.#leaving.set(
      id,
      leaving.then(() => {
        this.#leaving.delete(id)
        return undefined
      }),
    )
    await this.#leaving.get(id)
    await left
  }

  /** A turn that waits for an answer is suspended when its session is unloaded; it has its MCP servers again when it resumes. */
  #unloadWhenUnused(session: Session): Session {
    session.whenUnused(() => {
      if (isBusy(session.state)) this.#serversOfUnloaded.set(session.id, session.tools.servers)
      this.#leave(session.id, session.shutdown()).catch(this.#ports.report)
    })
    return session
  }

  async #delete(id: SessionId, session: Session | undefined): Promise<void> {
    // On a full disk the close cannot be stored, and deleting sessions is how a user makes room.
    await session?.close().catch(() => session.dispose())
    const { agents, journal } = this.#ports
    const conversations = agents.forget === undefined ? [] : await conversationsToForget(journal, id)
    await journal.delete(id)
    agents.forget?.(conversations)
    this.#serversOfUnloaded.delete(id)
    session?.deleted()
    for (const listener of this.#onDeleted) listener(id)
  }

  #dispatch(id: SessionId, command: Command): Promise<void> {
    return this.#withLive(id, async (session) => {
      if (session !== undefined) await session.dispatch(command)
      else await this.#leave(id, this.#dispatchToStored(id, command))
    })
  }

  /** Without opening the session: no client has it open and no turn runs, so it needs no agent and no tools. */
  async #dispatchToStored(id: SessionId, command: Command): Promise<void> {
    await this.#ports.ownership?.claim(id)
    await new SessionLog(this.#ports, await loadState(this.#ports, id)).dispatch(command)
  }

  async #halt(): Promise<void> {
    const { clock, report } = this.#ports
    const halting = [...this.#live.values()].map(async ({ opening }) => {
      // A session that could not be opened has nothing to shut down; its client got the error.
      const session = await waitAtMost(
        opening.catch(() => undefined),
        { clock, ms: HALT_TIMEOUT_MS },
      )
      await session?.shutdown()
    })
    for (const outcome of await Promise.allSettled([...halting, ...this.#leaving.values()])) {
      if (outcome.status === 'rejected') report(outcome.reason)
    }
    this.#live.clear()
  }

  /** From then on no session is opened: a session opened later would have a second writer in the next server. */
  #requireNotHalting(): void {
    if (this.#halting !== undefined) fail('SERVER_STOPPING', {})
  }

  #open(): readonly Session[] {
    return [...this.#live.values()].flatMap(({ session }) => (session?.closed.aborted === false ? [session] : []))
  }
}

function requireSameCwd({ id, cwd }: Existing, { cwd: given }: SessionConfig): void {
  if (cwd !== given) fail('SESSION_CWD_DIFFERS', { session: id, cwd, given })
}

async function prepare(session: Session, config: SessionConfig, capabilities: Command | undefined): Promise<void> {
  // No agent runs in a session that was just loaded, whatever its journal says.
  if (UNFINISHED.includes(rowOf(session.existing).phase)) await session.recoverInterrupted()
  await session.configure(config)
  if (capabilities !== undefined) await session.dispatchIfStorable(capabilities)
}

async function orDispose(session: Session, opened: Promise<unknown>): Promise<void> {
  try {
    await opened
  } catch (error) {
    await session.dispose()
    throw error
  }
}

function isWithdrawn(ended: EndedPrompt, promptId: string): boolean {
  return ended.promptId === promptId && ended.stopReason === 'withdrawn'
}
