/**
 * What every request that opens a conversation has of the session: its directories and MCP servers; and which of them the agent
 * cannot use.
 */
import type { AgentSession, AgentSessionRecord } from '../../../../ports/agent.ts'
import type { McpFront } from '../../../../ports/mcp-front.ts'
import type { AgentInfo, AgentProcess } from '../process/agent-process.ts'
import type { Quirks } from '../quirks.ts'
import type { AgentAbilities } from './abilities.ts'
import { type ServerQuestions, type ServersGiven, serversFor } from './servers.ts'

/** A session and the process of its agent. */
export interface AgentOfSession {
  /** The agent's full name. */
  readonly agent: string
  readonly session: AgentSession
  readonly process: AgentProcess
  readonly info: AgentInfo
  readonly quirks: Quirks
  /** As `ExternalParts` has it. */
  readonly front: McpFront | undefined
  readonly questions: ServerQuestions
}

export class OpeningParams {
  readonly #parts: AgentOfSession
  readonly #abilities: AgentAbilities
  readonly #toldLeftOut: string
  #opening: Promise<ServersGiven> | undefined
  #servers: ServersGiven | undefined

  constructor(parts: AgentOfSession, abilities: AgentAbilities) {
    this.#parts = parts
    this.#abilities = abilities
    this.#toldLeftOut = (parts.session.memory?.leftOut ?? []).join('\n')
  }

  async place(): Promise<object> {
    const { session } = this.#parts
    this.#opening ??= this.#openServers()
    this.#servers = await this.#opening
    const { servers } = this.#servers
    const [, ...directories] = session.roots
    const roots = this.#abilities.hasRoots && directories.length > 0 ? { additionalDirectories: directories } : {}
    return { cwd: session.cwd, mcpServers: servers, ...roots }
  }

  /** The addresses of a process are its own: they end with it. */
  async #openServers(): Promise<ServersGiven> {
    const { session, process, front, questions, quirks } = this.#parts
    const { mcp: way } = process.launch
    const { asks } = quirks
    const given = await serversFor(session, { way, mcp: this.#abilities.mcp, front, questions, asks })
    process.secrets.add(given.secrets)
    void process.ended.then(() => given.close())
    return given
  }

  /** False once the session has other MCP servers than the agent was given. */
  get hasServers(): boolean {
    return this.#servers?.isCurrent() !== false
  }

  /** What is remembered of the conversation, whichever way it was opened. Call it once it is open. */
  record(): Omit<AgentSessionRecord, 'generation' | 'agentSessionId' | 'how' | 'upTo'> {
    const { agent, info, session } = this.#parts
    const { cwd, roots } = session
    const { servers, directories } = this.#leftOut()
    return {
      agent,
      version: info.version,
      caps: this.#abilities.names,
      cwd,
      roots,
      leftOut: [...servers, ...directories],
    }
  }

  /** What the session has and its agent cannot use. */
  #leftOut(): { readonly servers: readonly string[]; readonly directories: readonly string[] } {
    const [, ...directories] = this.#parts.session.roots
    const servers = this.#servers?.leftOut ?? []
    return { servers, directories: this.#abilities.hasRoots ? [] : directories }
  }

  /** Once for each session, and again when it is something else. */
  async tellLeftOut(): Promise<void> {
    const { servers, directories } = this.#leftOut()
    const { session, process } = this.#parts
    if ([...servers, ...directories].join('\n') === this.#toldLeftOut) return
    const { name } = process.launch
    if (servers.length > 0) await session.notice(`${name} cannot use these MCP servers: ${servers.join(', ')}.`)
    if (directories.length > 0)
      await session.notice(`${name} works in one directory only and was not given ${directories.join(', ')}.`)
  }
}
