/** Keeps a session's slash commands up to date between turns, because MCP servers add and remove prompts at any time. */
import type { ToolList } from '../../ports/tools.ts'
import type { Existing } from '../domain/state.ts'
import type { SessionLog } from '../log/session-log.ts'
import type { SessionPorts } from '../session-ports.ts'
import type { SessionAgents } from '../session-agents.ts'
import type { ToolRegistryPool } from './tool-registry-pool.ts'

interface Offered {
  readonly state: Existing
  readonly list: ToolList
}

export interface SlashCommandSyncDeps {
  readonly ports: SessionPorts
  readonly log: SessionLog
  readonly registries: ToolRegistryPool
  readonly agents: SessionAgents
}

export class SlashCommandSync {
  readonly #ports: SessionPorts
  readonly #log: SessionLog
  readonly #registries: ToolRegistryPool
  readonly #agents: SessionAgents
  #offeredPrompts = '[]'
  #isRunning = false
  #isStale = false

  constructor({ ports, log, registries, agents }: SlashCommandSyncDeps) {
    this.#ports = ports
    this.#log = log
    this.#registries = registries
    this.#agents = agents
  }

  /** Call it when the tool list of the session may have changed. */
  refresh(): void {
    this.#isStale = true
    if (!this.#isRunning) void this.#run()
  }

  async #run(): Promise<void> {
    this.#isRunning = true
    while (this.#isStale) {
      this.#isStale = false
      // A client that opens the session gets its response before the commands.
      await Promise.resolve()
      await this.#update().catch(this.#ports.report)
    }
    this.#isRunning = false
  }

  /** While servers connect, the commands stay as they are: most would be removed only to be added again. */
  async #update(): Promise<void> {
    const { state, list } = this.#current() ?? {}
    if (state === undefined || list === undefined) return
    if (list.servers.some((server) => server.state === 'connecting')) return
    const prompts = JSON.stringify(list.prompts)
    if (prompts === this.#offeredPrompts && !hasStaleCommand(state, list)) return
    this.#offeredPrompts = prompts
    const agent = await this.#agents.open(state.agent).catch(() => undefined)
    const commands = await agent?.commandsFor?.(list)
    if (commands !== undefined) await this.#log.dispatch({ kind: 'refresh_commands', agent: state.agent, commands })
  }

  /** Undefined when the session is closed or has no tools yet. */
  #current(): Offered | undefined {
    const { state, closed } = this.#log
    if (closed.aborted || state.phase === 'absent' || state.phase === 'closed') return undefined
    const list = this.#registries.list(state.additionalDirectories)
    return list && { state, list }
  }
}

/** A command of an MCP server that was stored by an earlier server process and that the server no longer has. */
function hasStaleCommand({ commands }: Existing, { prompts }: ToolList): boolean {
  const known = new Set(prompts.map(({ name }) => name))
  return commands.some(({ name }) => name.includes('__') && !known.has(name))
}
