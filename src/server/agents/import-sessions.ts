/** `_parley/agents/import`: sessions that an agent has in its own store become sessions of this server. */
import { homedir } from 'node:os'
import { isAbsolute } from 'node:path'
import { SerialQueue } from '../../async/serial.ts'
import { fail, reasonOf } from '../../errors/parley-error.ts'
import type { ImportingJournal } from '../../ports/journal.ts'
import { newConversations } from '../../session/lifecycle/conversations.ts'
import { importConversation } from '../../session/lifecycle/import-conversation.ts'
import {
  type Lost,
  type OwnSession,
  type OwnSessions,
  type OwnSessionsParts,
  type Taken,
  type TakenSessions,
  withOwnSessions,
} from '../compose/agent-catalogue.ts'

export interface AgentImportOrder {
  /** As people type it. */
  readonly agent: string
  /** Where the agent is named. Absolute. */
  readonly directory: string
  /** Only the sessions of this directory. */
  readonly cwd?: string
  /** The agent's own ids of those to import. Without them, and without `all`, nothing is imported. */
  readonly sessions?: readonly string[]
  readonly all?: boolean
}

/** As it is on the wire: without a directory the agent is named in the home directory of the server's user. */
export type AgentImportParams = Omit<AgentImportOrder, 'directory'> & Partial<Pick<AgentImportOrder, 'directory'>>

/** `new`: it can be imported; `here`: it is a session of this server; `deleted`: it was one. */
export type ImportStanding = 'new' | 'here' | 'deleted'

export interface ImportableSession extends OwnSession {
  readonly standing: ImportStanding
  readonly sessionId?: string
}

export interface ImportedSession {
  readonly agentSessionId: string
  readonly sessionId: string
  readonly turns: number
}

export interface SkippedSession {
  readonly agentSessionId: string
  /** `empty`: it has no prompt; `unknown`: the agent lists no such session. */
  readonly why: 'here' | 'deleted' | 'empty' | 'unknown' | 'failed'
  readonly reason?: string
}

export interface AgentImportAnswer {
  /** Its full name. */
  readonly agent: string
  /** All that the agent lists, as they were before; the oldest first. */
  readonly sessions: readonly ImportableSession[]
  /** The agent has more than Parley reads. */
  readonly isCut: boolean
  readonly imported: readonly ImportedSession[]
  readonly skipped: readonly SkippedSession[]
}

interface AgentImportsParts extends OwnSessionsParts {
  readonly journal: ImportingJournal
  readonly taken: TakenSessions
  readonly newId: () => string
}

/** One import at a time: two at once would each find the same sessions new. */
export class AgentImports {
  readonly #parts: AgentImportsParts
  readonly #queue = new SerialQueue()

  constructor(parts: AgentImportsParts) {
    this.#parts = parts
  }

  /** Throws AGENT_UNKNOWN, AGENT_IMPORT, AGENT_LOGIN_NEEDED, and what keeps the agent from being started. */
  run(order: AgentImportOrder): Promise<AgentImportAnswer> {
    return this.#queue.run(() => this.#run(order))
  }

  async #run({ agent: name, directory, cwd, sessions, all = false }: AgentImportOrder): Promise<AgentImportAnswer> {
    const { catalogue } = this.#parts
    const agent = catalogue.fullName(name, directory)
    if (agent === undefined)
      return fail('AGENT_UNKNOWN', { agent: name, candidates: catalogue.candidates(name, directory).join(', ') })
    return withOwnSessions({ agent, directory }, this.#parts, async (own) => {
      const { sessions: listed, isCut } = await own.list(cwd)
      const known = await this.#known(agent)
      this.#keep(agent, known)
      const oldestFirst = listed.toSorted((a, b) => (a.updatedAt ?? 0) - (b.updatedAt ?? 0))
      const rows = oldestFirst.map((one) => known.listed(one))
      const importing = new Importing({ agent, own, known, parts: this.#parts })
      // Of all, those that the user deleted stay away; one that is named comes back.
      for (const row of all ? rows : []) await importing.one(row, row.standing === 'new')
      for (const id of new Set(all ? [] : sessions)) {
        const row = rows.find(({ agentSessionId }) => agentSessionId === id)
        if (row === undefined) importing.skipped.push({ agentSessionId: id, why: 'unknown' })
        else await importing.one(row, row.standing !== 'here')
      }
      this.#keep(agent, known)
      return { agent, sessions: rows, isCut, imported: importing.imported, skipped: importing.skipped }
    })
  }

  /**
   * Also those that Parley began itself: once deleted, they do not come back either. If the server dies before the end, the
   * journal still has what was imported.
   */
  #keep(agent: string, { taken, seen }: KnownSessions): void {
    const name = agent.slice('acp:'.length)
    // Sessions may have been deleted meanwhile, which is noted there too.
    const now = this.#parts.taken.of(name).taken
    this.#parts.taken.put(name, { taken: new Map([...now, ...taken]), seen })
  }

  async #known(agent: string): Promise<KnownSessions> {
    const { journal, taken } = this.#parts
    const name = agent.slice('acp:'.length)
    const before = taken.of(name)
    // Only what was stored since the last import is read.
    const { found, sessions } = await newConversations(journal, agent, before.seen)
    return new KnownSessions({ taken: new Map([...before.taken, ...found]), seen: sessions })
  }
}

/** The conversations of one agent that are sessions here, and those that were. */
class KnownSessions {
  readonly #taken: Map<string, string>
  /** All sessions here, each with the last entry that was looked at. */
  readonly seen: Taken['seen']

  constructor({ taken, seen }: Taken) {
    this.#taken = new Map(taken)
    this.seen = seen
  }

  get taken(): Taken['taken'] {
    return this.#taken
  }

  listed(session: OwnSession): ImportableSession {
    const sessionId = this.#taken.get(session.agentSessionId)
    if (sessionId === undefined) return { ...session, standing: 'new' }
    return this.seen.has(sessionId) ? { ...session, standing: 'here', sessionId } : { ...session, standing: 'deleted' }
  }

  add(agentSessionId: string, sessionId: string): void {
    this.#taken.set(agentSessionId, sessionId)
  }
}

interface ImportingParts {
  readonly agent: string
  readonly own: OwnSessions
  readonly known: KnownSessions
  readonly parts: AgentImportsParts
}

class Importing {
  readonly imported: ImportedSession[] = []
  readonly skipped: SkippedSession[] = []
  readonly #with: ImportingParts

  constructor(parts: ImportingParts) {
    this.#with = parts
  }

  /** One that fails does not keep the others from being imported. */
  async one({ standing, ...session }: ImportableSession, isWanted: boolean): Promise<void> {
    const { agentSessionId } = session
    if (!isWanted) {
      if (standing !== 'new') this.skipped.push({ agentSessionId, why: standing })
      return
    }
    try {
      await this.#take(session)
    } catch (error) {
      this.skipped.push({ agentSessionId, why: 'failed', reason: reasonOf(error) })
    }
  }

  async #take(session: OwnSession): Promise<void> {
    const { agent, own, known, parts } = this.#with
    const { agentSessionId, cwd, title } = session
    const turns = await own.turnsOf(session)
    if (turns.every(({ prompt }) => prompt.length === 0)) {
      this.skipped.push({ agentSessionId, why: 'empty' })
      return
    }
    const id = parts.newId()
    const about = { agent, agentSessionId, cwd, version: own.version, caps: own.abilities }
    const record = { ...about, generation: 1, how: 'import', roots: [cwd], upTo: 0 } as const
    const notice = noticeOf(agent.slice('acp:'.length), own.quirks.replayLoses)
    await importConversation(parts, { id, record, turns, notice, ...(title !== undefined && { title }) })
    known.add(agentSessionId, id)
    this.imported.push({ agentSessionId, sessionId: id, turns: turns.length })
  }
}

const LOST: Readonly<Record<Lost, string>> = {
  tool_calls: 'tool calls',
  tool_outputs: 'the outputs of tools',
  tool_kinds: 'the kinds of tool calls',
  diffs: 'the differences of files',
  thoughts: 'thoughts',
  order: 'the order of tool calls',
  boundaries: 'where one message ends and the next begins',
}

function noticeOf(name: string, loses: readonly Lost[]): string {
  const lost = loses.length === 0 ? '' : ` ${name} does not tell all of it again: lost are ${lossesText(loses)}.`
  return `Imported from ${name}'s own session. The times are those of the import.${lost}`
}

function lossesText(loses: readonly Lost[]): string {
  return loses.map((one) => LOST[one]).join(', ')
}

/** Throws PARAMS_INVALID. */
export function parseAgentImport(params: unknown): AgentImportOrder {
  const { agent, directory = homedir(), cwd, sessions, all } = (params ?? {}) as Readonly<Record<string, unknown>>
  if (typeof agent !== 'string' || agent === '') return failParams('agent must be the name of an agent')
  if (typeof directory !== 'string' || !isAbsolute(directory)) return failParams('directory must be an absolute path')
  if (cwd !== undefined && (typeof cwd !== 'string' || !isAbsolute(cwd)))
    return failParams('cwd must be an absolute path')
  if (all !== undefined && typeof all !== 'boolean') return failParams('all must be true or false')
  if (sessions !== undefined && !isTexts(sessions)) return failParams('sessions must be a list of ids')
  return {
    agent,
    directory,
    ...(cwd !== undefined && { cwd }),
    ...(sessions !== undefined && { sessions }),
    ...(all !== undefined && { all }),
  }
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string')
}

function failParams(reason: string): never {
  return fail('PARAMS_INVALID', { method: '_parley/agents/import', reason })
}
