/**
 * The open agents of a live session: the one of its next turn, and that of a running turn which began with another; what they see
 * of the session, and the slash commands that they make of its tools.
 */
import { fail } from '../errors/parley-error.ts'
import type {
  Agent,
  AgentActivity,
  AgentCapabilities,
  AgentMemory,
  AgentProcessStatus,
  AgentSession,
  AgentSessionRecord,
  AgentUpdate,
  ClientVariables,
  PastTurn,
  PromptKinds,
} from '../ports/agent.ts'
import type { Cursor, SessionId } from '../ports/journal.ts'
import type { Settings } from '../ports/values/settings.ts'
import type { McpServer, ToolList } from '../ports/tools.ts'
import type { Command } from './domain/commands.ts'
import { decide } from './domain/decide.ts'
import { type Existing, hasAgent, isBusy } from './domain/state.ts'
import type { SessionLog } from './log/session-log.ts'
import type { SessionConfig } from './handle.ts'
import { forkedConversation } from './lifecycle/conversations.ts'
import type { SessionPorts } from './session-ports.ts'
import type { AttachedClients } from './subscribers/subscribers.ts'
import type { ToolRegistryPool } from './tools/tool-registry-pool.ts'
import { pastTurns } from './turn/past-turns.ts'

type SettingCommand = Command & { readonly kind: 'set_mode' | 'set_config_option' }

/** The parts of the session that its agents see; there are none before the session's first agent is open. */
interface LiveSession {
  readonly log: SessionLog
  readonly registries: ToolRegistryPool
  readonly clients: AttachedClients
  /** Shows the attached clients what the agent does. */
  readonly showActivity: (activity: AgentActivity | undefined) => void
}

const NO_SETTINGS: Settings = { modes: null, configOptions: [] }

export class SessionAgents {
  readonly id: SessionId
  /** The session is being created, and not loaded. */
  readonly isNew: boolean
  /** Of the client that opened the session. */
  readonly config: SessionConfig
  readonly #ports: SessionPorts
  readonly #opening = new Map<string, Promise<Agent>>()
  readonly #open = new Map<string, Agent>()
  readonly #views = new Map<string, AgentSession>()
  #variables: ClientVariables | undefined
  #activity: AgentActivity | undefined
  #live: LiveSession | undefined
  readonly #attached: Promise<LiveSession>
  #promptKinds: { readonly key: readonly unknown[]; readonly kinds: PromptKinds } | undefined
  /**
   * Found to be stored already, beside what the session had then; most turns begin with capabilities that have not changed. To
   * compare them again takes as long as to write them as JSON, 30 kB with some agents.
   */
  #known: (Pick<Existing, 'settings' | 'offeredCommands'> & { readonly capabilities: AgentCapabilities }) | undefined
  #isClosed = false
  /** The prompts of MCP servers that the agent has made commands of. */
  #offeredPrompts = '[]'
  #isRefreshing = false
  #areCommandsStale = false
  #attach: (live: LiveSession) => void = () => {}

  constructor(
    ports: SessionPorts,
    { id, isNew }: { readonly id: SessionId; readonly isNew: boolean },
    config: SessionConfig,
  ) {
    this.isNew = isNew
    this.id = id
    this.#ports = ports
    this.config = config
    this.#variables = config.variables
    this.#attached = new Promise((resolve) => (this.#attach = resolve))
  }

  /** From now on agents see the session as it is, and what they say is stored. */
  attach(live: LiveSession): void {
    this.#live = live
    this.#attach(live)
    live.showActivity(this.#activity)
  }

  /** Another client opens the session. */
  configure({ variables }: SessionConfig): void {
    this.#variables = variables ?? this.#variables
  }

  /** The agent of this name, opened unless it is open. Throws what keeps it from being opened; the next call tries again. */
  open(name: string): Promise<Agent> {
    const known = this.#opening.get(name)
    if (known !== undefined) return known
    const opening = this.#openNow(name)
    this.#opening.set(name, opening)
    opening.catch(() => this.#opening.delete(name))
    return opening
  }

  /**
   * Opens the agent of this name for a session whose agent is `current`, and gives the command that stores its capabilities.
   * Undefined when the current agent cannot be opened: the session can be read, and its next turn says what is wrong.
   */
  async tryOpen(name: string, current: string): Promise<Command | undefined> {
    try {
      return agentCapabilities(name, (await this.open(name)).capabilities)
    } catch (error) {
      if (name !== current) throw error
      return undefined
    }
  }

  /** Stores the capabilities of this agent. Undefined if they are stored already, or the session has another agent. */
  offer(name: string, { capabilities }: Agent): Promise<unknown> | undefined {
    const log = this.#live?.log
    if (log === undefined) return undefined
    if (this.#isKnown(capabilities, log.existing)) return undefined
    const command = agentCapabilities(name, capabilities)
    if (decide(command, log.existing).length > 0) {
      // Those that were known before are not stored any more, and may come back.
      this.#known = undefined
      return log.dispatch(command)
    }
    const { settings, offeredCommands } = log.existing
    this.#known = { capabilities, settings, offeredCommands }
    return undefined
  }

  /** Values that a user has set hold over those that an agent only offers, but not over those that it works with. */
  #isKnown(capabilities: AgentCapabilities, { settings, offeredCommands }: Existing): boolean {
    const known = this.#known
    // After a change of agents the state has no commands of the new one.
    if (known?.capabilities !== capabilities || offeredCommands === null) return false
    return !capabilities.isCurrent || (known.settings === settings && known.offeredCommands === offeredCommands)
  }

  /**
   * Has the session's agent apply a setting before it is stored. Undefined if the agent reads the stored settings itself, or
   * is not open: it applies the stored settings when it is opened. Throws MODE_UNKNOWN, CONFIG_OPTION_UNKNOWN,
   * CONFIG_VALUE_UNKNOWN and what the agent refuses the setting with.
   */
  apply(command: SettingCommand, { existing }: SessionLog): Promise<void> | undefined {
    const agent = this.#open.get(existing.agent)
    const isMode = command.kind === 'set_mode'
    const takes = isMode ? agent?.setMode : agent?.setConfigOption
    if (takes === undefined || decide(command, existing).length === 0) return undefined
    return isMode ? agent?.setMode?.(command.modeId) : agent?.setConfigOption?.(command.configId, command.value)
  }

  /** The content that prompts may have. Looking it up may read a file, so the result is kept until agent, settings or variables change. */
  promptKinds({ agent, settings }: Existing): PromptKinds {
    const key = [agent, settings, this.#variables]
    if (this.#promptKinds === undefined || key.some((part, at) => part !== this.#promptKinds?.key[at]))
      this.#promptKinds = { key, kinds: this.#ports.agents.accepts(agent, this.#variables) }
    return this.#promptKinds.kinds
  }

  /** Closes agents that neither the session nor a turn has any more. Call it after a turn, and after the agent was changed. */
  async closeUnused(): Promise<void> {
    const { log } = await this.#attached
    const { existing } = log
    const used = new Set([existing.agent, isBusy(existing) ? existing.turn.agent : existing.agent])
    await this.#close([...this.#opening.keys()].filter((name) => !used.has(name)))
  }

  /** Ends the processes of the session's agents, as `Agent.release` has it. */
  async release(when: 'idle' | 'now'): Promise<boolean> {
    const released = await Promise.all([...this.#open.values()].map(async (agent) => agent.release?.(when)))
    return released.includes(true)
  }

  /** The processes that its agents have. */
  async processes(): Promise<readonly AgentProcessStatus[]> {
    const statuses = await Promise.all([...this.#open.values()].map(async (agent) => agent.processStatus?.()))
    return statuses.filter((one) => one !== undefined)
  }

  /** The session is closed or leaves memory. */
  close(): Promise<void> {
    this.#isClosed = true
    return this.#close([...this.#opening.keys()])
  }

  async #openNow(name: string): Promise<Agent> {
    if (this.#isClosed) fail('SESSION_CLOSED', { session: this.id })
    const view = new ViewOfSession(this, name)
    this.#views.set(name, view)
    const agent = await this.#ports.agents.open(name, view)
    this.#open.set(name, agent)
    return agent
  }

  async #close(names: readonly string[]): Promise<void> {
    const opening = names.flatMap((name) => this.#opening.get(name) ?? [])
    for (const name of names) {
      this.#opening.delete(name)
      this.#open.delete(name)
      this.#views.delete(name)
    }
    // One that could not be opened has nothing to close.
    await Promise.all(
      opening.map((agent) =>
        agent.then(
          (open) => open.close().catch(this.#ports.report),
          () => undefined,
        ),
      ),
    )
  }

  /** Whether this is the view of an agent that is open, and not of one that was closed. */
  hasOpen(view: AgentSession): boolean {
    return [...this.#views.values()].includes(view)
  }

  /** Stores the capabilities that an open agent has now. */
  async capabilitiesChanged(name: string): Promise<void> {
    const agent = this.#open.get(name)
    if (agent === undefined || this.existing === undefined) return
    await this.offer(name, agent)?.catch(this.#ports.report)
  }

  showActivity(activity: AgentActivity | undefined): void {
    this.#activity = activity
    this.#live?.showActivity(activity)
  }

  /** MCP servers add and remove prompts at any time, and each is a slash command. Call it when the tool list may have changed. */
  toolsChanged(): void {
    this.#areCommandsStale = true
    if (!this.#isRefreshing) void this.#refreshCommands()
  }

  async #refreshCommands(): Promise<void> {
    this.#isRefreshing = true
    while (this.#areCommandsStale) {
      this.#areCommandsStale = false
      // A client that opens the session gets its response before the commands.
      await Promise.resolve()
      await this.#updateCommands().catch(this.#ports.report)
    }
    this.#isRefreshing = false
  }

  /** While servers connect, the commands stay as they are: most would be removed only to be added again. */
  async #updateCommands(): Promise<void> {
    const state = this.existing
    const list = state && state.phase !== 'closed' && this.#live?.registries.list(state.additionalDirectories)
    if (!list || list.servers.some((server) => server.state === 'connecting')) return
    const prompts = JSON.stringify(list.prompts)
    if (prompts === this.#offeredPrompts && !hasStaleCommand(state, list)) return
    this.#offeredPrompts = prompts
    const agent = await this.open(state.agent).catch(() => undefined)
    const commands = await agent?.commandsFor?.(list)
    if (commands !== undefined)
      await this.#live?.log.dispatch({ kind: 'refresh_commands', agent: state.agent, commands })
  }

  /** The parts of the session, once they exist. */
  get attached(): Promise<LiveSession> {
    return this.#attached
  }

  get mcpServers(): readonly McpServer[] {
    return this.#live?.registries.servers ?? this.config.mcpServers
  }

  get variables(): ClientVariables | undefined {
    return this.#variables
  }

  get ports(): SessionPorts {
    return this.#ports
  }

  /** The state of the session; undefined before it was created and after it was closed. */
  get existing(): Existing | undefined {
    const log = this.#live?.log
    return log === undefined || log.closed.aborted || log.state.phase === 'absent' ? undefined : log.state
  }
}

/** The session as the agent of one name sees it. */
class ViewOfSession implements AgentSession {
  readonly #agents: SessionAgents
  readonly #name: string

  constructor(agents: SessionAgents, name: string) {
    this.#agents = agents
    this.#name = name
  }

  get id(): SessionId {
    return this.#agents.id
  }

  get cwd(): string {
    return this.roots[0] ?? '/'
  }

  get roots(): readonly string[] {
    const { cwd, additionalDirectories } = this.#agents.existing ?? this.#agents.config
    return [cwd, ...additionalDirectories]
  }

  get mcpServers(): readonly McpServer[] {
    return this.#agents.mcpServers
  }

  get variables(): ClientVariables | undefined {
    return this.#agents.variables
  }

  get settings(): Settings {
    return this.#agents.existing?.settings ?? NO_SETTINGS
  }

  get windowTokens(): number | undefined {
    return this.#agents.existing?.usage?.size
  }

  get isNew(): boolean {
    return this.#agents.isNew
  }

  get promptsWaiting(): number {
    const { existing } = this.#agents
    return existing !== undefined && isBusy(existing) ? existing.queue.length : 0
  }

  get memory(): AgentMemory | undefined {
    const memory = this.#agents.existing?.agentSession
    return memory?.agent === this.#name ? memory : undefined
  }

  /** Generations are counted across all agents of the session. */
  get generation(): number {
    return this.#agents.existing?.agentSession?.generation ?? 0
  }

  async forkable(): Promise<AgentMemory | undefined> {
    const { log } = await this.#agents.attached
    await log.settled()
    const memory = await forkedConversation(this.#agents.ports.journal, this.id)
    return memory?.agent === this.#name ? memory : undefined
  }

  async remember(record: AgentSessionRecord): Promise<void> {
    const { log } = await this.#agents.attached
    // The agent of a session that is about to change to it is ready before the change is stored; one that the user has left
    // since then may still answer, and its conversation is not that of the session.
    await log.until(
      (state) => state.phase !== 'absent' && (hasAgent(state, record.agent) || !this.#agents.hasOpen(this)),
    )
    if (!log.closed.aborted && this.#agents.hasOpen(this))
      await log.dispatch({ kind: 'remember_agent_session', record })
  }

  async *pastTurns(after: Cursor): AsyncGenerator<PastTurn> {
    const { log } = await this.#agents.attached
    await log.settled()
    yield* pastTurns(this.#agents.ports.journal, this.id, after)
  }

  async beginTurn(): Promise<boolean> {
    const { log } = await this.#agents.attached
    if (log.closed.aborted) return false
    return (await log.dispatch({ kind: 'begin_agent_turn', agent: this.#name })).length > 0
  }

  async notice(text: string, again?: 'again'): Promise<void> {
    const { log, clients } = await this.#agents.attached
    // The client that creates or resumes a session gets the entries from its end on, and would never see one stored before that.
    await clients.hadClient
    if (!log.closed.aborted) await log.dispatch({ kind: 'notice', text, again }).catch(this.#agents.ports.report)
  }

  showActivity(activity: AgentActivity | undefined): void {
    this.#agents.showActivity(activity)
  }

  capabilitiesChanged(): Promise<void> {
    return this.#agents.capabilitiesChanged(this.#name)
  }

  async update(update: AgentUpdate, turnId?: string): Promise<void> {
    const { log } = await this.#agents.attached
    if (log.closed.aborted) return
    // Agents tell their usage beside the end of a turn, which would wait until that was stored by itself.
    const urgency = update.kind === 'usage' || update.kind === 'title' ? 'soon' : 'now'
    const of = turnId === undefined ? {} : { turnId }
    await log.post({ kind: 'agent_update', agent: this.#name, update, ...of }, JSON.stringify(update).length, urgency)
  }
}

/** A command of an MCP server that was stored by an earlier server process and that the server no longer has. */
function hasStaleCommand({ commands }: Existing, { prompts }: ToolList): boolean {
  const known = new Set(prompts.map(({ name }) => name))
  return commands.some(({ name }) => name.includes('__') && !known.has(name))
}

export function agentCapabilities(agent: string, { commands, settings, isCurrent }: AgentCapabilities): Command {
  return { kind: 'set_agent_capabilities', agent, commands, settings, ...(isCurrent && { isCurrent }) }
}
