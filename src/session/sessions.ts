/** All sessions of one owner: creates, opens, lists, closes, deletes and recovers them. */
import { fail } from '../errors/parley-error.ts'
import type { ListQuery, SessionId, SessionPhase, SessionRow } from '../ports/journal.ts'
import { type Opening, Session } from './session.ts'
import { absent } from './state.ts'
import type { World } from './world.ts'
import { loadState } from './writer.ts'

const UNFINISHED: readonly SessionPhase[] = ['working', 'waiting']

export class Sessions {
  readonly #world: World
  /** Opening counts as live, so that a session is never opened twice. */
  readonly #live = new Map<SessionId, Promise<Session>>()

  constructor(world: World) {
    this.#world = world
  }

  async create(opening: Opening): Promise<Session> {
    const id = this.#world.clock.id()
    const session = new Session(this.#world, absent(id), opening)
    this.#live.set(id, Promise.resolve(session))
    const { cwd, additionalDirectories } = opening
    const { kind: agent, commands } = this.#world.agent
    const create = session.dispatch({ kind: 'create', cwd, additionalDirectories, agent })
    const offer = session.dispatch({ kind: 'offer_commands', commands })
    try {
      await Promise.all([create, offer])
    } catch (error) {
      this.#live.delete(id)
      await session.leave()
      throw error
    }
    return session
  }

  /**
   * Opens a stored session, or joins it where it is live. Throws SESSION_NOT_FOUND, and SESSION_CWD_DIFFERS when the
   * client thinks that it belongs elsewhere.
   */
  async open(id: SessionId, opening: Opening): Promise<Session> {
    const live = this.#live.get(id)
    if (live === undefined) return this.#openStored(id, opening)
    const session = await live
    requireSameCwd(id, session.existing.cwd, opening)
    await session.reopen(opening)
    return session
  }

  list(query: ListQuery): Promise<readonly SessionRow[]> {
    return this.#world.journal.list(query)
  }

  /** Its row, without opening it. */
  async find(id: SessionId): Promise<SessionRow | undefined> {
    return (await this.#world.journal.head(id))?.row
  }

  /** Ends what runs and frees what the session held; it stays listed and can be opened again. */
  async close(id: SessionId): Promise<void> {
    const session = await this.#live.get(id)
    if (session === undefined) {
      if ((await this.#world.journal.head(id)) === undefined) fail('SESSION_NOT_FOUND', { session: id })
      return
    }
    await session.close()
    this.#live.delete(id)
  }

  /** Forgets the session; one that never was is forgotten already. */
  async delete(id: SessionId): Promise<void> {
    const session = await this.#live.get(id)
    if (session !== undefined) {
      await session.close()
      this.#live.delete(id)
    }
    await this.#world.journal.delete(id)
  }

  /** What a crashed owner left running is ended or suspended, before anyone is served. Only the owner calls this, once. */
  async recover(): Promise<number> {
    const { faults, journal } = this.#world
    await faults.at('recovery.started')
    const unfinished = await journal.list({ phases: UNFINISHED, limit: Number.MAX_SAFE_INTEGER })
    for (const row of unfinished) {
      const state = await loadState(this.#world, row.id)
      const session = new Session(this.#world, state, { cwd: row.cwd, additionalDirectories: [], mcpServers: [] })
      await session.halt()
    }
    await faults.at('recovery.finished')
    return unfinished.length
  }

  /** The owner stops. Idempotent. */
  async halt(): Promise<void> {
    const live = [...this.#live.values()]
    this.#live.clear()
    const halting = live.map(async (opening) => (await opening).halt())
    for (const outcome of await Promise.allSettled(halting)) {
      if (outcome.status === 'rejected') this.#world.report(outcome.reason)
    }
  }

  async #openStored(id: SessionId, opening: Opening): Promise<Session> {
    const opened = this.#load(id, opening)
    this.#live.set(id, opened)
    try {
      return await opened
    } catch (error) {
      this.#live.delete(id)
      throw error
    }
  }

  async #load(id: SessionId, opening: Opening): Promise<Session> {
    const state = await loadState(this.#world, id)
    if (state.phase === 'absent') return fail('SESSION_NOT_FOUND', { session: id })
    requireSameCwd(id, state.cwd, opening)
    const session = new Session(this.#world, state, opening)
    const { additionalDirectories } = opening
    await session.dispatch({ kind: 'configure', additionalDirectories })
    await session.dispatch({ kind: 'offer_commands', commands: this.#world.agent.commands })
    return session
  }
}

function requireSameCwd(session: SessionId, cwd: string, { cwd: given }: Opening): void {
  if (cwd !== given) fail('SESSION_CWD_DIFFERS', { session, cwd, given })
}
