/** The sessions in an agent's own store. A process that runs only for this purpose lists them and replays them one by one. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import { fail } from '../../../../errors/parley-error.ts'
import type { EarlierTurn } from '../../../../ports/agent.ts'
import { fieldsOf } from '../../../../rpc/json-rpc.ts'
import type { AgentCatalogue } from '../catalogue.ts'
import { introduced, type ProbeParts } from '../probe/probe.ts'
import { type AgentInfo, AgentProcess, refusalOf } from '../process/agent-process.ts'
import { requireLogin } from '../process/introduction.ts'
import type { PeerListener } from '../process/peer.ts'
import { WireError } from '../process/wire-error.ts'
import type { Quirks } from '../quirks.ts'
import { AgentAbilities } from '../reattach/abilities.ts'
import { untilReplayed } from '../reattach/replay.ts'
import { readUpdate } from '../updates/read-update.ts'
import { EarlierTurns } from './earlier-turns.ts'

const MAX_PAGES = 200
const MAX_SESSIONS = 10_000
const SILENCE_MS = 120_000
const MAX_TITLE_CHARS = 500

/** As the agent lists it. */
export interface OwnSession {
  readonly agentSessionId: string
  /** Absolute. */
  readonly cwd: string
  readonly title?: string
  /** Milliseconds since 1970. */
  readonly updatedAt?: number
}

export interface OwnSessionList {
  readonly sessions: readonly OwnSession[]
  /** There are more than Parley reads. */
  readonly isCut: boolean
}

export interface OwnSessionsParts extends ProbeParts {
  readonly catalogue: AgentCatalogue
}

export interface WhichAgent {
  /** Its full name. */
  readonly agent: string
  /** Where it was named: a project may have agents of its own. Absolute. */
  readonly directory: string
}

/**
 * Starts the agent in an empty folder, calls `use`, and stops it. Throws what keeps it from being started, and AGENT_LOGIN_NEEDED
 * and AGENT_IMPORT.
 */
export async function withOwnSessions<Result>(
  { agent, directory }: WhichAgent,
  parts: OwnSessionsParts,
  use: (own: OwnSessions) => Promise<Result>,
): Promise<Result> {
  const launch = await parts.catalogue.launch(agent, { cwd: directory })
  const cwd = await mkdtemp(join(tmpdir(), 'parley-agent-'))
  try {
    const listener = new Listening()
    const start = { launch, sessionId: 'import', cwd, listener, signal: parts.signal }
    const process = await AgentProcess.start(start, parts)
    listener.process = process
    try {
      const info = await introduced(process, parts)
      const quirks = parts.catalogue.quirks(agent, info, directory)
      return await use(new OwnSessions({ process, info, quirks, listener }, parts))
    } finally {
      await process.stop()
    }
  } finally {
    await rm(cwd, { recursive: true, force: true })
  }
}

interface Running {
  readonly process: AgentProcess
  readonly info: AgentInfo
  readonly quirks: Quirks
  readonly listener: Listening
}

export class OwnSessions {
  readonly #running: Running
  readonly #parts: OwnSessionsParts
  readonly #abilities: AgentAbilities

  constructor(running: Running, parts: OwnSessionsParts) {
    this.#running = running
    this.#parts = parts
    this.#abilities = new AgentAbilities(running.info.capabilities, running.quirks)
  }

  get version(): string {
    return this.#running.info.version
  }

  get quirks(): Quirks {
    return this.#running.quirks
  }

  /** For the journal. */
  get abilities(): readonly string[] {
    return this.#abilities.names
  }

  /** Those of one directory, or all. One without a directory cannot be opened again, and is left out. */
  async list(cwd: string | undefined): Promise<OwnSessionList> {
    if (!this.#abilities.canList)
      this.#cannot('it does not say which sessions it has; parley import --from may find them in its files')
    const found = new Map<string, OwnSession>()
    let cursor: string | undefined
    for (let page = 0; page < MAX_PAGES && found.size < MAX_SESSIONS; page += 1) {
      const params = { ...(cwd !== undefined && { cwd }), ...(cursor !== undefined && { cursor }) }
      const { sessions, nextCursor } = fieldsOf(await this.#ask('session/list', params))
      for (const one of Array.isArray(sessions) ? sessions.flatMap(ownSession) : [])
        // Not every agent heeds the directory.
        if (cwd === undefined || one.cwd === cwd) found.set(one.agentSessionId, one)
      if (typeof nextCursor !== 'string' || nextCursor === cursor) return bounded(found, false)
      cursor = nextCursor
    }
    return bounded(found, true)
  }

  /** The whole conversation, by one `session/load`. */
  async turnsOf({ agentSessionId, cwd }: OwnSession): Promise<readonly EarlierTurn[]> {
    const { listener, quirks } = this.#running
    if (!this.#abilities.canLoad) this.#cannot('it cannot reopen its sessions')
    const turns = new EarlierTurns(quirks)
    listener.hears(agentSessionId, turns)
    try {
      await this.#ask('session/load', { sessionId: agentSessionId, cwd, mcpServers: [] })
      await untilReplayed(turns, quirks, this.#parts.clock)
    } finally {
      listener.hears('', undefined)
    }
    if (turns.isTooLong) this.#cannot(`its session ${agentSessionId} is too long`)
    return turns.all
  }

  /** Throws AGENT_IMPORT for one that it refuses. */
  async delete(agentSessionId: string): Promise<void> {
    if (this.#abilities.canDelete) await this.#ask('session/delete', { sessionId: agentSessionId })
  }

  async #ask(method: string, params: object): Promise<unknown> {
    const { process, info } = this.#running
    const agent = process.launch.name
    try {
      return await process.ask(method, params, { silenceMs: SILENCE_MS, signal: this.#parts.signal })
    } catch (error) {
      if (!(error instanceof WireError)) throw error
      requireLogin(error, process, info)
      const reason = `it refused ${method}: ${refusalOf(error, process)}`
      return fail('AGENT_IMPORT', { agent, reason }, error)
    }
  }

  #cannot(reason: string): never {
    return fail('AGENT_IMPORT', { agent: this.#running.process.launch.name, reason })
  }
}

/** An agent may give all that it has as one page. */
function bounded(found: ReadonlyMap<string, OwnSession>, hasMore: boolean): OwnSessionList {
  return { sessions: [...found.values()].slice(0, MAX_SESSIONS), isCut: hasMore || found.size > MAX_SESSIONS }
}

function ownSession(row: unknown): readonly OwnSession[] {
  const { sessionId, cwd, title, updatedAt } = fieldsOf(row)
  if (typeof sessionId !== 'string' || sessionId === '' || typeof cwd !== 'string' || !isAbsolute(cwd)) return []
  const at = typeof updatedAt === 'string' ? Date.parse(updatedAt) : Number.NaN
  const named = typeof title === 'string' && title.trim() !== ''
  return [
    {
      agentSessionId: sessionId,
      cwd,
      ...(named && { title: title.slice(0, MAX_TITLE_CHARS) }),
      ...(!Number.isNaN(at) && { updatedAt: at }),
    },
  ]
}

/** Hears one session at a time; what it says of others, and what it asks, is ignored. */
class Listening implements PeerListener {
  process: AgentProcess | undefined
  #session = ''
  #turns: EarlierTurns | undefined

  hears(session: string, turns: EarlierTurns | undefined): void {
    this.#session = session
    this.#turns = turns
  }

  async notified(method: string, params: unknown): Promise<void> {
    const { sessionId, update } = fieldsOf(params)
    if (method !== 'session/update' || sessionId !== this.#session || this.process === undefined) return
    this.#turns?.take(readUpdate(this.process.secrets.maskJson(update)))
  }

  requested(method: string): Promise<unknown> | undefined {
    return method === 'session/request_permission' ? Promise.resolve({ outcome: { outcome: 'cancelled' } }) : undefined
  }

  noise(line: string): void {
    this.process?.note(line)
  }
}
