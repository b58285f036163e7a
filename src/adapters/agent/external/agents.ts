/** The external agents of a server: opened for sessions by their full names, `acp:NAME`. */
import { fail } from '../../../errors/parley-error.ts'
import type { Agent, AgentSession, DeletedConversation, PromptKinds } from '../../../ports/agent.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { McpFront } from '../../../ports/mcp-front.ts'
import type { Processes } from '../../../ports/process.ts'
import { ExternalAgent } from './agent.ts'
import type { AgentCatalogue } from './catalogue.ts'
import { DeletedSessions } from './own-sessions/deleted-sessions.ts'
import type { TakenSessions } from './own-sessions/taken-sessions.ts'
import { LiveAgents } from './supervision/live-agents.ts'
import type { ExternalParts } from './supervision/parts.ts'

/** Until an agent has been met, only what every agent takes is sent to it. */
const ONLY_TEXT: PromptKinds = { image: false, audio: false, embeddedContext: false }
const SETTING_MS = 15_000
const QUIET_MS = 30_000
/** Agents write a title, or a summary, some time after a turn. */
const OUTSIDE: ExternalParts['outside'] = { lookAfterMs: 30_000, afterthoughtMs: 5_000 }
/** Processes of agents at once; each may take hundreds of megabytes. */
const MAX_LIVE = 8

export interface ExternalAgentsOptions {
  readonly processes: Processes
  readonly clock: Clock
  readonly catalogue: AgentCatalogue
  readonly logDirectory?: string | undefined
  readonly front?: McpFront | undefined
  readonly clientInfo: ExternalParts['clientInfo']
  readonly report: (error: unknown) => void
  /** Absent, agents keep the conversations of deleted sessions. */
  readonly taken?: TakenSessions
  readonly outside?: ExternalParts['outside']
  readonly quietMs?: number
}

export class ExternalAgents {
  readonly #parts: ExternalParts
  readonly #catalogue: AgentCatalogue
  readonly #deleted: DeletedSessions | undefined

  constructor(options: ExternalAgentsOptions) {
    const { catalogue, taken, clock } = options
    const signal = clock.abortSource().signal
    this.#catalogue = catalogue
    this.#deleted = taken && new DeletedSessions({ ...options, taken, signal })
    this.#parts = {
      ...options,
      outside: options.outside ?? OUTSIDE,
      settingMs: SETTING_MS,
      quietMs: options.quietMs ?? QUIET_MS,
      live: new LiveAgents(MAX_LIVE),
      never: signal,
    }
  }

  /** Whether this is the full name of an external agent. */
  static has(name: string): boolean {
    return name.startsWith('acp:')
  }

  /** As `AgentCatalogue.fullName` has it. */
  fullName(requested: string, cwd?: string): string | undefined {
    return this.#catalogue.fullName(requested, cwd)
  }

  /** What a user could have meant by a name that no agent has. */
  candidates(requested: string): readonly string[] {
    return this.#catalogue.candidates(requested)
  }

  /** Throws AGENT_UNKNOWN, which names those that the user could have meant. */
  requireKnown(name: string, cwd?: string): void {
    const short = name.slice('acp:'.length)
    if (this.#catalogue.fullName(short, cwd) === undefined && this.#catalogue.offers(name) === undefined)
      fail('AGENT_UNKNOWN', { agent: name })
  }

  /**
   * A new session starts its agent at once; a stored one only with its first prompt, unless the agent is to be warm. Throws what keeps the agent of a new session from
   * being started: AGENT_UNKNOWN, AGENT_NOT_INSTALLED, AGENT_NOT_ALLOWED and AGENT_CONFIG.
   */
  async open(name: string, session: AgentSession): Promise<Agent> {
    const agent = new ExternalAgent(name, session, this.#parts)
    const { cwd, variables } = session
    if (!session.isNew) {
      if (this.#catalogue.isWarm(name, { cwd, variables })) agent.warmUp()
      return agent
    }
    await this.#catalogue.launch(name, { cwd, variables })
    await agent.begin()
    return agent
  }

  /** As `Agents.forget` has it. */
  forget(conversations: readonly DeletedConversation[]): void {
    this.#deleted?.forget(conversations)
  }

  accepts(name: string): PromptKinds {
    const { image, audio } = this.#catalogue.offers(name)?.promptKinds ?? ONLY_TEXT
    return { image, audio, embeddedContext: true }
  }
}
