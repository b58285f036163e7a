/** A live session: its one writer, its readers, its running turn and its tools. */
import { fail, isParleyError } from '../errors/parley-error.ts'
import type { Content, Meta } from '../ports/content.ts'
import type { Cursor, SessionId } from '../ports/journal.ts'
import type { Signal } from '../ports/signal.ts'
import type { ServerStatus } from '../ports/tools.ts'
import { AttachedClients } from './subscribers/attached-clients.ts'
import { type AttachOptions, type SubscriptionSink, sessionSink } from './subscribers/subscription-sink.ts'
import { Subscribers } from './subscribers/subscribers.ts'
import type { Command } from './domain/commands.ts'
import type { Entry } from './domain/entries.ts'
import { isEnd } from './domain/finish-turn.ts'
import { type Subscribing, Subscription } from './subscribers/subscription.ts'
import {
  type SessionConfig,
  type SessionHandle,
  type SessionSink,
  type SessionView,
  type SubscribeOptions,
  viewOf,
} from './handle.ts'
import { agentsWith, configuration } from './session-config.ts'
import type { Agents, ClientVariables, PromptKinds } from '../ports/agent.ts'
import { ClientProviders } from './client-services/client-providers.ts'
import { SlashCommandSync } from './tools/slash-command-sync.ts'
import { IdleTimer, mayUnload } from './lifecycle/idle-timer.ts'
import { TurnRunner } from './turn/turn-runner.ts'
import { type Existing, type State } from './domain/state.ts'
import { RegistryPool } from './tools/registry-pool.ts'
import type { SessionPorts } from './session-ports.ts'
import { SessionLog } from './log/session-log.ts'

export class Session implements SessionHandle {
  readonly id: SessionId
  readonly #ports: SessionPorts
  readonly #log: SessionLog
  readonly #registries: RegistryPool
  readonly #clients: AttachedClients
  readonly #subscribers: Subscribers
  readonly #slashCommands: SlashCommandSync
  readonly #idleTimer: IdleTimer
  readonly #turns: TurnRunner
  #unload: () => void = () => {}
  /** Of the last client that brought any; the session keeps them when that client has left. */
  #lent: ClientVariables | undefined
  #accepts: { readonly of: readonly unknown[]; readonly kinds: PromptKinds } | undefined

  constructor(given: SessionPorts, state: State, config: SessionConfig) {
    const ports = { ...given, agents: agentsWith(given.agents, () => this.#lent) }
    this.id = state.id
    this.#ports = ports
    this.#lent = config.lent
    const log = new SessionLog(ports, state, {
      published: (entries) => this.#publish(entries),
      effect: (effect) => this.#turns.act(effect),
      failed: (error, ahead) => this.#notStored(error, ahead),
    })
    this.#log = log
    const registries = new RegistryPool(ports, {
      id: state.id,
      cwd: config.cwd,
      toolsChanged: () => {
        this.#subscribers.serversChanged()
        this.#slashCommands.refresh()
      },
    })
    this.#registries = registries
    const providers = new ClientProviders()
    this.#clients = new AttachedClients({ ports, log, registries, providers })
    this.#subscribers = new Subscribers(ports.report)
    this.#slashCommands = new SlashCommandSync(ports, log, registries)
    this.#turns = new TurnRunner({ ports, log, registries, clients: providers, subscribers: this.#subscribers })
    registries.declare(config, config)
    this.#idleTimer = new IdleTimer(
      ports.clock,
      () => this.#isUnused(),
      () => this.#unload(),
    )
  }

  get state(): State {
    return this.#log.state
  }

  /** The state of a session that was created; every session that anyone can reach was. */
  get requireCreated(): Existing {
    return this.#log.existing
  }

  get closed(): Signal {
    return this.#log.closed
  }

  async snapshot(): Promise<SessionView> {
    return this.#view()
  }

  async subscribe(from: Cursor | 'head', sink: SessionSink, options: SubscribeOptions): Promise<Subscription> {
    return this.#attach({ from, sink }, options)
  }

  get clients(): AttachedClients {
    return this.#clients
  }

  /** Its agents, with what its clients have lent. */
  get agents(): Agents {
    return this.#ports.agents
  }

  /** What its turns have besides an agent. */
  get tools(): RegistryPool {
    return this.#registries
  }

  decline(subscription: Subscription, requestId: string, why?: string): Promise<void> {
    return subscription.decline(requestId, why)
  }

  adoptPrompt(promptId: string, subscription: Subscription): void {
    subscription.adoptPrompts([promptId])
  }

  setClientConfig(subscription: Subscription, config: SessionConfig): void {
    subscription.setConfig(config)
  }

  /** The MCP servers as the turns of this reader have them. */
  serversFor(feed: Subscription): readonly ServerStatus[] {
    return this.#registries.serversFor(feed)
  }

  /** It was halted, closed or lost to another writer: what is stored can be opened again, but not through this one. */
  get isDisposed(): boolean {
    return this.#log.closed.aborted
  }

  /** Throws SESSION_CLOSED once the session is gone, and for a prompt that would keep it from closing. */
  dispatch(command: Command): Promise<readonly Entry[]> {
    return this.#log.request(command)
  }

  /** A prompt that belongs to no client. */
  prompt(promptId: string, content: readonly Content[], meta?: Meta): Promise<readonly Entry[]> {
    return this.dispatch({ kind: 'prompt', promptId, content, ...(meta && { meta }) })
  }

  /** A reader from `from` on; it is told nothing before it asks to replay or go live. Throws SESSION_CLOSED. */
  attach(sink: SubscriptionSink, from: Cursor, attaching: AttachOptions): Subscription {
    const options = {
      config: attaching.opening,
      client: attaching.client,
      ...(attaching.lends && { peer: attaching.lends }),
    }
    return this.#attach({ from, sink: sessionSink(sink) }, options)
  }

  #attach(subscribing: Subscribing, options: SubscribeOptions): Subscription {
    if (this.closed.aborted) fail('SESSION_CLOSED', { session: this.id })
    const source = {
      ports: this.#ports,
      clients: this.#clients,
      view: () => this.#view(),
      onEnd: (subscription: Subscription) => this.#left(subscription),
    }
    const subscription = new Subscription(this.id, source, subscribing)
    this.#clients.join(subscription, options)
    this.#subscribers.add(subscription)
    this.#idleTimer.cancel()
    return subscription
  }

  /** Opened again while live: the directories of the request hold, and its MCP servers join those that others named. */
  async applyConfig(opening: SessionConfig): Promise<void> {
    this.#lent = opening.lent ?? this.#lent
    this.#registries.declare(opening, opening)
    this.#idleTimer.restart()
    try {
      await this.configure(opening)
    } catch (error) {
      this.releaseConfig(opening)
      throw error
    }
  }

  releaseConfig(config: SessionConfig): void {
    this.#clients.releaseConfig(config)
  }

  /** Calls `unload` when no client has been attached for a while and nothing runs. */
  whenUnused(unload: () => void): void {
    this.#unload = unload
    this.#idleTimer.restart()
  }

  /** It is no longer stored: there is nothing to come back to. */
  deleted(): void {
    this.#subscribers.ended('deleted')
  }

  /** Ends what an owner that died left running; a disk that takes nothing puts that off. */
  async recoverInterrupted(): Promise<void> {
    if (!(await this.dispatchIfStorable({ kind: 'halt' }))) this.#turns.recovery.begin()
  }

  /** What an opening brings with it. Another agent is either stored or refused: the next turn would not be its own. */
  async configure(opening: SessionConfig): Promise<void> {
    const { agent = this.requireCreated.agent } = opening
    const command = configuration(opening)
    if (agent === this.requireCreated.agent) await this.dispatchIfStorable(command)
    else await this.dispatch(command)
  }

  /** False when the disk is full or cannot be written: what is stored must be readable all the same. */
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

  /** Cancels what runs, then closes the session and frees what it held. The transcript stays. */
  async close(): Promise<void> {
    await this.#log.endSession()
    await this.dispose()
    this.#subscribers.ended('closed')
  }

  /** The owner stops, or nobody has wanted it: a waiting turn is suspended, any other is interrupted. Nothing is stored after this. */
  async shutdown(): Promise<void> {
    const halted = this.#log.dispatch({ kind: 'halt' })
    this.#log.close()
    try {
      await halted
    } finally {
      // A disk that is full leaves the halt to the next owner; processes end all the same.
      await this.dispose()
    }
  }

  /** Lets go of everything without another entry. Idempotent. */
  async dispose(): Promise<void> {
    this.#log.close()
    this.#idleTimer.cancel()
    this.#turns.cancel()
    await this.#log.settled()
    await this.#registries.close()
  }

  #left(subscription: Subscription): void {
    this.#clients.leave(subscription)
    this.#subscribers.remove(subscription)
    this.#idleTimer.restart()
  }

  /** There is a view for every batch; which content the agent takes is looked up again only when something says so. */
  #view(): SessionView {
    const state = this.#log.existing
    const of = [state.agent, state.settings, this.#lent]
    if (this.#accepts === undefined || of.some((part, at) => part !== this.#accepts?.of[at]))
      this.#accepts = { of, kinds: this.#ports.agents.accepts(state.agent) }
    return viewOf(state, this.#accepts.kinds)
  }

  /** Nobody is here, and nothing would be lost. */
  #isUnused(): boolean {
    return !this.#log.closed.aborted && this.#clients.size === 0 && mayUnload(this.state)
  }

  #publish(entries: readonly Entry[]): void {
    try {
      this.#subscribers.publish(entries, this.#view())
      for (const entry of entries) if (isEnd(entry)) this.#clients.promptEnded(entry.promptId)
    } finally {
      this.#idleTimer.restart()
    }
  }

  #notStored(error: unknown, ahead: boolean): void {
    this.#turns.break(error)
    const isLost = isParleyError(error, 'JOURNAL_CONFLICT')
    // First of all gone, so that what is told of the failure is told as the last word.
    if (isLost) this.#runInBackground(this.dispose())
    if (this.state.phase !== 'absent') this.#subscribers.failed(error, this.#view())
    if (isLost) this.#subscribers.ended('closed')
    else if (ahead || this.#log.isDirty) this.#turns.recovery.begin()
  }

  #runInBackground(work: Promise<unknown>): void {
    work.catch(this.#ports.report)
  }
}
