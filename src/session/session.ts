/** A live session: its log, its clients, its tools and its running turn, put together. */
import { fail, isParleyError } from '../errors/parley-error.ts'
import type { Timer } from '../ports/clock.ts'
import type { Cursor, SessionId } from '../ports/journal.ts'
import type { SessionAgents } from './session-agents.ts'
import type { AgentProcessStatus, PromptKinds } from '../ports/agent.ts'
import type { Command } from './domain/commands.ts'
import type { Entry } from './domain/entries.ts'
import { type Existing, type State, mayUnload } from './domain/state.ts'
import type {
  ClientPrompt,
  SessionConfig,
  SessionHandle,
  SessionSink,
  SessionSubscription,
  SessionView,
  SubscribeOptions,
} from './handle.ts'
import { type LogFailure, SessionLog, retryRead } from './log/session-log.ts'
import { turnAt } from './log/read-page.ts'
import type { SessionPorts } from './session-ports.ts'
import { AttachedClients, Subscribers } from './subscribers/subscribers.ts'
import { ToolRegistryPool } from './tools/tool-registry-pool.ts'
import { TurnRunner } from './turn/turn-runner.ts'

/** Long enough for an editor that restarts. */
const UNLOAD_AFTER_MS = 60_000

export class Session implements SessionHandle {
  readonly id: SessionId
  readonly #ports: SessionPorts
  readonly #agents: SessionAgents
  readonly #log: SessionLog
  readonly #registries: ToolRegistryPool
  readonly #clients: AttachedClients
  readonly #subscribers: Subscribers
  readonly #turns: TurnRunner
  #unload: () => void = () => {}
  /** Runs while no client is attached and the session may be unloaded. */
  #idleTimer: Timer | undefined

  /** Its agent is open already, unless it cannot be opened. */
  constructor(ports: SessionPorts, state: State, agents: SessionAgents) {
    const { config } = agents
    this.id = state.id
    this.#ports = ports
    this.#agents = agents
    const log = new SessionLog(ports, state, {
      published: (entries) => this.#published(entries),
      effect: (effect) => this.#turns.act(effect),
      failed: (failure) => this.#failed(failure),
    })
    this.#log = log
    const registries = new ToolRegistryPool(ports, {
      id: state.id,
      cwd: config.cwd,
      toolsChanged: () => {
        this.#subscribers.serversChanged()
        agents.toolsChanged()
      },
    })
    this.#registries = registries
    const clients = new AttachedClients(ports, log, registries)
    this.#clients = clients
    const subscribers = new Subscribers(ports, log, { clients, onEmpty: () => this.#restartIdleTimer() })
    this.#subscribers = subscribers
    agents.attach({ log, registries, clients, showActivity: (activity) => subscribers.showActivity(activity) })
    this.#turns = new TurnRunner({ ports, log, agents, registries, clients, subscribers })
    registries.declare(config, config)
  }

  get closed(): SessionHandle['closed'] {
    return this.#log.closed
  }

  get state(): State {
    return this.#log.state
  }

  /** The state of a session that was created; every session that a client can reach was. */
  get existing(): Existing {
    return this.#log.existing
  }

  get clients(): AttachedClients {
    return this.#clients
  }

  get tools(): ToolRegistryPool {
    return this.#registries
  }

  async snapshot(): Promise<SessionView> {
    return this.#subscribers.view()
  }

  async turnAt(cursor: Cursor): Promise<number> {
    const { seq, turns } = this.existing
    return cursor >= seq ? turns : retryRead(this.#ports.clock, () => turnAt(this.#ports.journal, this.id, cursor))
  }

  async promptKinds(): Promise<PromptKinds> {
    return this.#agents.promptKinds(this.existing)
  }

  async subscribe(from: Cursor | 'head', sink: SessionSink, options: SubscribeOptions): Promise<SessionSubscription> {
    if (this.closed.aborted) fail('SESSION_CLOSED', { session: this.id })
    const subscription = this.#subscribers.add(from, sink, options)
    this.#idleTimer?.cancel()
    return subscription
  }

  async dispatch(command: Command): Promise<readonly Entry[]> {
    const isSetting = command.kind === 'set_mode' || command.kind === 'set_config_option'
    const applied = isSetting && !this.closed.aborted ? this.#agents.apply(command, this.#log) : undefined
    if (applied !== undefined) await applied
    const stored = this.#log.request(command)
    // The agent stops while that is being stored, so that the end of its turn may be stored with it.
    if (command.kind === 'cancel') this.#turns.cancel()
    return stored
  }

  /** A prompt that belongs to no client. */
  prompt(promptId: string, content: ClientPrompt['content'], meta?: ClientPrompt['meta']): Promise<readonly Entry[]> {
    return this.dispatch({ kind: 'prompt', promptId, content, ...(meta && { meta }) })
  }

  releaseConfig(config: SessionConfig): void {
    this.#clients.releaseConfig(config)
  }

  /**
   * A client opens the session while it is live: the directories and the agent of the config hold, and its MCP servers join
   * those of other clients. Throws if the config names another agent that cannot be opened.
   */
  async applyConfig(config: SessionConfig): Promise<void> {
    this.#agents.configure(config)
    const { agent } = this.existing
    const capabilities = config.agent === undefined ? undefined : await this.#agents.tryOpen(config.agent, agent)
    try {
      this.#registries.declare(config, config)
      this.#restartIdleTimer()
      await Promise.all([this.configure(config), capabilities && this.dispatchIfStorable(capabilities)])
    } catch (error) {
      this.releaseConfig(config)
      throw error
    } finally {
      await this.#agents.closeUnused()
    }
  }

  /** Stores what the config changes. A new agent is either stored or refused, because otherwise the next turn would run another one. */
  async configure({ additionalDirectories, agent }: SessionConfig): Promise<void> {
    const command = { kind: 'configure', additionalDirectories, ...(agent === undefined ? {} : { agent }) } as const
    if (agent === undefined || agent === this.existing.agent) await this.dispatchIfStorable(command)
    else await this.dispatch(command)
  }

  /** False when the disk is full or cannot be written; the session can still be read then. */
  async dispatchIfStorable(command: Command): Promise<boolean> {
    try {
      await this.dispatch(command)
      return true
    } catch (error) {
      if (!isParleyError(error, 'JOURNAL_FULL') && !isParleyError(error, 'JOURNAL_IO')) throw error
      this.#ports.report(error)
      return false
    }
  }

  /** Ends the turn that an earlier server process left open; on a full disk, as soon as it can be stored. */
  async recoverInterrupted(): Promise<void> {
    if (!(await this.dispatchIfStorable({ kind: 'halt' }))) this.#turns.recovery.begin()
  }

  /** Calls `unload` when no client has been attached for a while and nothing runs. */
  whenUnused(unload: () => void): void {
    this.#unload = unload
    this.#restartIdleTimer()
  }

  /** Ends the process of its agent; `now`: also in the middle of a turn, which is cancelled. False if there was none to end. */
  async releaseAgent(when: 'idle' | 'now'): Promise<boolean> {
    if (when === 'now') await this.dispatch({ kind: 'cancel', queued: [] })
    return this.#agents.release(when)
  }

  agentProcesses(): Promise<readonly AgentProcessStatus[]> {
    return this.#agents.processes()
  }

  /** Resolves when unloading the session would interrupt no turn, or the session is closed. */
  untilRested(): Promise<void> {
    return this.#log.until(mayUnload)
  }

  /** Cancels what runs, then closes the session and frees what it held. The transcript stays. */
  async close(): Promise<void> {
    await this.#log.endSession()
    await this.dispose()
    this.#subscribers.ended('closed')
  }

  /** Call it when the session is no longer stored. */
  deleted(): void {
    this.#subscribers.ended('deleted')
  }

  /**
   * The server stops, or unloads the session: a turn that waits for an answer is suspended, any other is interrupted. Nothing
   * is stored afterwards.
   */
  async shutdown(): Promise<void> {
    const halted = this.#log.dispatch({ kind: 'halt' })
    this.#log.close()
    try {
      await halted
    } finally {
      // On a full disk the next server process ends the turn; child processes end now in any case.
      await this.dispose()
    }
  }

  /** Its end is stored no more, as `error` says: nothing can follow it. */
  lose(error: unknown): Promise<void> {
    return this.#log.lose(error)
  }

  /** Frees everything without storing anything more. Idempotent. */
  async dispose(): Promise<void> {
    this.#log.close()
    this.#idleTimer?.cancel()
    this.#turns.cancel()
    await this.#log.settled()
    await this.#agents.close()
    await this.#registries.close()
  }

  #published(entries: readonly Entry[]): void {
    try {
      this.#subscribers.publish(entries)
      this.#clients.published(entries)
    } finally {
      if (this.#clients.size === 0) this.#restartIdleTimer()
    }
  }

  #failed({ error, isAhead, breaksTurn, isFinal }: LogFailure): void {
    if (breaksTurn) this.#turns.break(error)
    // Closed first, so that no client waits for a prompt of a session that another server has, or of a damaged journal.
    if (isFinal) this.dispose().catch(this.#ports.report)
    if (breaksTurn && this.state.phase !== 'absent') this.#subscribers.failed(error)
    if (isAhead) this.#subscribers.readMissing()
    if (isFinal) this.#subscribers.ended('closed')
    else if (isAhead || this.#log.isDirty) this.#turns.recovery.begin()
  }

  #restartIdleTimer(): void {
    this.#idleTimer?.cancel()
    const isUnused = !this.closed.aborted && this.#clients.size === 0 && mayUnload(this.state)
    this.#idleTimer = isUnused ? this.#ports.clock.setTimer(UNLOAD_AFTER_MS, () => this.#unload()) : undefined
  }
}
