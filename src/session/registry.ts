/** All sessions of one owner: creates, opens, lists, closes, deletes and recovers them. */
import { waitAtMost } from '../async/with-timeout.ts'
import { fail } from '../errors/parley-error.ts'
import type { Cursor, ListQuery, SessionId, SessionPhase, SessionSummary } from '../ports/journal.ts'
import type { Grant } from '../ports/rules.ts'
import type { McpServer } from '../ports/tools.ts'
import type { Command } from './domain/commands.ts'
import type { SessionConfig, SessionDirectory } from './handle.ts'
import { forkSession } from './lifecycle/fork.ts'
import { type OpenedAgent, agentsWith, agentCapabilities, requireOpened, requireSameCwd } from './session-config.ts'
import type { Agents, ClientVariables } from '../ports/agent.ts'
import { Session } from './session.ts'
import { absent, isAtWork, isBusy, rowOf } from './domain/state.ts'
import { parseTitle } from './domain/title.ts'
import type { SessionPorts } from './session-ports.ts'
import { loadState, retryRead } from './log/read-journal.ts'
import { SessionLog } from './log/session-log.ts'

const UNFINISHED: readonly SessionPhase[] = ['working', 'waiting']

/** How long a halt waits for sessions that are still being opened: a disk that hangs must not keep the server. Milliseconds. */
const OPENING_GRACE = 2_000

/** A session from the moment that it begins to be opened. */
interface Live {
  readonly opening: Promise<Session>
  /** Once it is open. */
  session?: Session
}

export interface SessionCounts {
  readonly sessions: number
  /** Turns that run; one that waits for a person does not. */
  readonly working: number
  readonly mcpServers: number
}

export class SessionRegistry implements SessionDirectory {
  readonly #world: SessionPorts
  /** Opening counts as live, so that a session is never opened twice. */
  readonly #live = new Map<SessionId, Live>()
  /** Being closed or deleted: whoever opens such a session waits, so that it never has two writers. */
  readonly #leaving = new Map<SessionId, Promise<undefined>>()
  /** What clients have named for turns that wait at rest: never stored, so that a restart forgets it. */
  readonly #servers = new Map<SessionId, readonly McpServer[]>()
  /** Whoever watches sessions, and wishes to go on with one that was let go of and opened again. */
  readonly #watchers = new Set<(session: Session) => void>()
  /** Set once the server has begun to halt its sessions: from then on none is opened, which would give it a second writer. */
  #halting: Promise<void> | undefined

  constructor(world: SessionPorts) {
    this.#world = world
    world.agents.whenChanged((kind) => void this.#offerAgain(kind).catch(world.report))
  }

  /** Throws what keeps its agent from being opened, with nothing stored, and SERVER_STOPPING, as all below that change sessions. */
  async create(opening: SessionConfig): Promise<Session> {
    this.#requireServing()
    const id = this.#world.clock.id()
    return this.#open(id, this.#create(id, opening))
  }

  /**
   * Opens a stored session, or joins it where it is live. Throws SESSION_NOT_FOUND, and SESSION_CWD_DIFFERS when the
   * client thinks that it belongs elsewhere. An agent that is named answers from the next turn on; one that cannot be
   * opened is refused, unless it is the session's already: then its next turn says what is wrong.
   */
  async open(id: SessionId, opening: SessionConfig): Promise<Session> {
    const named = opening.agent === undefined ? undefined : await this.#agent(opening.agent, opening.lent)
    return this.#withLive(id, async (session) => {
      if (session === undefined) return this.#tellOpened(this.#open(id, this.#load(id, { opening, named })))
      requireSameCwd(id, session.requireCreated.cwd, opening)
      requireOpened(session.requireCreated.agent, opening, named)
      await Promise.all([session.applyConfig(opening), offer(session, named)])
      return session
    })
  }

  /**
   * Calls `tell` with each session that has been opened and was not live before, ahead of whoever opened it. Somebody may
   * have watched it until it was closed by another, or lost to another writer. Gives what ends that.
   */
  whenOpened(tell: (session: Session) => void): () => void {
    this.#watchers.add(tell)
    return () => this.#watchers.delete(tell)
  }

  /** Gives it another name, live or not. Throws SESSION_NOT_FOUND and TITLE_INVALID. */
  async rename(id: SessionId, name: string): Promise<void> {
    await this.#dispatchTo(id, { kind: 'rename', title: parseTitle(name) })
  }

  /** What was always allowed in it is asked about again. Throws SESSION_NOT_FOUND. */
  async revoke(id: SessionId, grant: Grant): Promise<void> {
    await this.#dispatchTo(id, { kind: 'revoke', grant })
  }

  /** A new session that begins as a copy of this one, at `at` or now. Throws SESSION_NOT_FOUND and FORK_POINT_UNKNOWN. */
  async fork(id: SessionId, at?: Cursor): Promise<SessionId> {
    this.#requireServing()
    return forkSession(this.#world, id, at)
  }

  list(query: ListQuery): Promise<readonly SessionSummary[]> {
    return this.#world.journal.list(query)
  }

  /** Its row, without opening it. */
  async find(id: SessionId): Promise<SessionSummary | undefined> {
    return (await this.#world.journal.head(id))?.row
  }

  /** What is live now, for whoever watches over the process. Waits for nothing: an opening may hang. */
  counts(): SessionCounts {
    const live = this.#opened()
    const working = this.atWork().length
    return {
      sessions: live.length,
      working,
      mcpServers: live.reduce((sum, { tools }) => sum + tools.ready, 0),
    }
  }

  /** The sessions in which turns run now. */
  atWork(): readonly SessionId[] {
    return this.#opened().flatMap(({ id, state }) => (isAtWork(state) ? [id] : []))
  }

  /** Ends what runs and frees what the session held; it stays listed and can be opened again. */
  close(id: SessionId): Promise<void> {
    return this.#withLive(id, async (session) => {
      if (session !== undefined) return this.#leave(id, session.close())
      if ((await this.#world.journal.head(id)) === undefined) fail('SESSION_NOT_FOUND', { session: id })
    })
  }

  /** Forgets the session; one that never was is forgotten already. */
  delete(id: SessionId): Promise<void> {
    return this.#withLive(id, (session) => this.#leave(id, this.#forget(id, session)))
  }

  /**
   * What a crashed owner left running is ended or suspended, before anyone is served. Only the owner calls this, once.
   * A session that cannot be recovered now keeps nobody from the others; opening it tries again, and says why not.
   */
  async recover(): Promise<number> {
    const { faults, journal, report } = this.#world
    await faults.at('recovery.started')
    const unfinished = await journal.list({ phases: UNFINISHED, limit: Number.MAX_SAFE_INTEGER })
    for (const row of unfinished) await this.#dispatchToStored(row.id, { kind: 'halt' }).catch(report)
    await faults.at('recovery.finished')
    return unfinished.length
  }

  /** The server stops: every session is halted, also those that are still being opened or left. Idempotent. */
  halt(): Promise<void> {
    this.#halting ??= this.#halt()
    return this.#halting
  }

  async #halt(): Promise<void> {
    const { clock } = this.#world
    const halting = [...this.#live.values()].map(async ({ opening }) => {
      // A session that could not be opened has nothing to halt; its client was told why.
      const session = await waitAtMost(
        opening.catch(() => undefined),
        { clock, ms: OPENING_GRACE },
      )
      await session?.shutdown()
    })
    for (const outcome of await Promise.allSettled([...halting, ...this.#leaving.values()])) {
      if (outcome.status === 'rejected') this.#world.report(outcome.reason)
    }
    this.#live.clear()
  }

  #requireServing(): void {
    if (this.#halting !== undefined) fail('SERVER_STOPPING', {})
  }

  /**
   * Acts on the session as it is live once nobody is opening or leaving it, in the same breath as that is known.
   * One that failed to open is not live: its opener hears why, the others try for themselves.
   */
  async #withLive<Result>(id: SessionId, act: (session: Session | undefined) => Promise<Result>): Promise<Result> {
    for (;;) {
      await this.#leaving.get(id)
      const live = this.#live.get(id)
      const session = await live?.opening.catch(() => undefined)
      this.#requireServing()
      if (this.#leaving.has(id) || this.#live.get(id) !== live) continue
      if (session !== undefined && !session.isDisposed) return act(session)
      this.#live.delete(id)
      return act(undefined)
    }
  }

  /**
   * It leaves memory when nobody has wanted it for a while; whoever opens it meanwhile waits, and then opens it anew. A turn
   * that waits for an answer is suspended for that, and has its servers again when it goes on.
   */
  #watched(session: Session): Session {
    session.whenUnused(() => {
      if (isBusy(session.state)) this.#servers.set(session.id, session.tools.servers)
      this.#leave(session.id, session.shutdown()).catch(this.#world.report)
    })
    return session
  }

  /** Live or not. */
  #dispatchTo(id: SessionId, command: Command): Promise<void> {
    return this.#withLive(id, async (session) => {
      if (session !== undefined) await session.dispatch(command)
      else await this.#leave(id, this.#dispatchToStored(id, command))
    })
  }

  async #forget(id: SessionId, session: Session | undefined): Promise<void> {
    // A full disk must not keep anyone from making room.
    await session?.close().catch(() => session.dispose())
    await this.#world.journal.delete(id)
    this.#servers.delete(id)
    session?.deleted()
  }

  /** While it lasts, whoever wants the session waits; only whoever asked for it hears that it failed. */
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

  /** Nobody reads it and nothing runs in it: its tools need not be opened for this. */
  async #dispatchToStored(id: SessionId, command: Command): Promise<void> {
    await new SessionLog(this.#world, await loadState(this.#world, id)).dispatch(command)
  }

  /** Whoever looks at a session's choices now must not see those of before. */
  async #offerAgain(kind: string): Promise<void> {
    for (const session of this.#opened()) {
      const { agent } = session.requireCreated
      if (agent.replace(/:.*$/su, '') === kind && !session.isDisposed)
        await offer(session, await openedBy(session.agents, agent))
    }
  }

  #agent(name: string, lent: ClientVariables | undefined): Promise<OpenedAgent> {
    return openedBy(
      agentsWith(this.#world.agents, () => lent),
      name,
    )
  }

  #opened(): readonly Session[] {
    const live = [...this.#live.values()].flatMap(({ session }) => session ?? [])
    return live.filter(({ isDisposed: isGone }) => !isGone)
  }

  /** A client that asks for the session while it is being opened waits for it. */
  async #open(id: SessionId, opening: Promise<Session>): Promise<Session> {
    const live: Live = { opening }
    this.#live.set(id, live)
    try {
      const session = await opening
      live.session = session
      // The halt may have stopped waiting for it.
      if (this.#halting !== undefined) await session.dispose()
      this.#requireServing()
      return session
    } catch (error) {
      if (this.#live.get(id) === live) this.#live.delete(id)
      throw error
    }
  }

  async #tellOpened(opened: Promise<Session>): Promise<Session> {
    const session = await opened
    for (const tell of this.#watchers) tell(session)
    return session
  }

  async #create(id: SessionId, opening: SessionConfig): Promise<Session> {
    const { cwd, additionalDirectories } = opening
    const agents = agentsWith(this.#world.agents, () => opening.lent)
    const agent = opening.agent ?? (await agents.resolveAgentName(agents.default))
    const offered = agentCapabilities(agent, await agents.open(agent))
    const session = new Session(this.#world, absent(id), opening)
    const create = session.dispatch({ kind: 'create', cwd, additionalDirectories, agent })
    const offer = session.dispatch(offered)
    try {
      await Promise.all([create, offer])
    } catch (error) {
      await session.dispose()
      throw error
    }
    return this.#watched(session)
  }

  async #load(id: SessionId, { opening, named }: Request): Promise<Session> {
    const state = await retryRead(this.#world.clock, () => loadState(this.#world, id))
    if (state.phase === 'absent') return fail('SESSION_NOT_FOUND', { session: id })
    requireSameCwd(id, state.cwd, opening)
    requireOpened(state.agent, opening, named)
    const agent = named ?? (await this.#agent(state.agent, opening.lent))
    const session = new Session(this.#world, state, opening)
    const left = this.#servers.get(id)
    if (left !== undefined && isBusy(state)) session.tools.inherit(left)
    try {
      // Nothing runs in a session that has just been opened, whatever its journal says.
      if (UNFINISHED.includes(rowOf(state).phase)) await session.recoverInterrupted()
      await session.configure(opening)
      await offer(session, agent)
    } catch (error) {
      await session.dispose()
      throw error
    }
    this.#servers.delete(id)
    return this.#watched(session)
  }
}

interface Request {
  readonly opening: SessionConfig
  /** The agent that the opening names, if it names one. */
  readonly named: OpenedAgent | undefined
}

async function openedBy(agents: Agents, name: string): Promise<OpenedAgent> {
  try {
    return { offer: agentCapabilities(name, await agents.open(name)) }
  } catch (reason) {
    return { reason }
  }
}

async function offer(session: Session, agent: OpenedAgent | undefined): Promise<void> {
  if (agent !== undefined && 'offer' in agent) await session.dispatchIfStorable(agent.offer)
}
