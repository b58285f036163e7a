/** A live session: its one writer, its readers, its running turn and its tools. */
import { fail, isParleyError } from '../errors/parley-error.ts'
import type { Content, Meta } from '../ports/content.ts'
import type { Cursor, SessionId } from '../ports/journal.ts'
import type { ServerStatus } from '../ports/tools.ts'
import { Subscribers, type SubscribedClient } from './subscribers/subscribers.ts'
import type { Command } from './domain/commands.ts'
import type { Entry } from './domain/entries.ts'
import { isEnd } from './domain/finish-turn.ts'
import { Subscription, type SubscriptionSink } from './subscribers/subscription.ts'
import { type AttachOptions, type SessionConfig, agentsWith, configuration } from './session-config.ts'
import type { Agents, ClientVariables } from '../ports/agent.ts'
import { ClientProviders } from './client-services/client-providers.ts'
import { SlashCommandSync } from './tools/slash-command-sync.ts'
import { IdleTimer, mayUnload } from './lifecycle/idle-timer.ts'
import { TurnRunner } from './turn/turn-runner.ts'
import { type Existing, type State, isBusy, isOpenPrompt } from './domain/state.ts'
import { RegistryPool } from './tools/registry-pool.ts'
import type { SessionPorts } from './session-ports.ts'
import { SessionLog } from './log/session-log.ts'

/** Who sends a prompt, and what they attach to it. */
export interface Sending {
  readonly sender?: Subscription
  readonly meta?: Meta | undefined
}

export class Session {
  readonly id: SessionId
  readonly #ports: SessionPorts
  readonly #log: SessionLog
  readonly #subscribers: Subscribers
  readonly #registries: RegistryPool
  readonly #clients = new ClientProviders()
  readonly #slashCommands: SlashCommandSync
  readonly #idleTimer: IdleTimer
  readonly #turns: TurnRunner
  #unload: () => void = () => {}
  /** Of the last client that brought any; the session keeps them when that client has left. */
  #lent: ClientVariables | undefined
  #isClosing = false

  constructor(given: SessionPorts, state: State, config: SessionConfig) {
    const ports = { ...given, agents: agentsWith(given.agents, () => this.#lent) }
    this.id = state.id
    this.#ports = ports
    this.#lent = config.lent
    this.#subscribers = new Subscribers(ports.report)
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
        this.#subscribers.changed('mcp')
        this.#slashCommands.refresh()
      },
    })
    this.#registries = registries
    this.#slashCommands = new SlashCommandSync(ports, log, registries)
    registries.declare(config, config)
    this.#turns = new TurnRunner({
      ports,
      log,
      registries,
      clients: this.#clients,
      subscribers: this.#subscribers,
    })
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

  /** Who is attached, in the order in which they came. */
  get clients(): readonly (readonly [Subscription, SubscribedClient])[] {
    return this.#subscribers.clients
  }

  /** Its agents, with what its clients have lent. */
  get agents(): Agents {
    return this.#ports.agents
  }

  /** What its turns have besides an agent. */
  get tools(): RegistryPool {
    return this.#registries
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
  async dispatch(command: Command): Promise<readonly Entry[]> {
    const comesTooLate = this.#log.closed.aborted || (this.#isClosing && command.kind === 'prompt')
    return comesTooLate ? fail('SESSION_CLOSED', { session: this.id }) : this.#log.dispatch(command)
  }

  /**
   * Accepts a prompt; its end comes as an entry. Sent again with the same id, it runs once. Its turn has the directories
   * that `sender` declared, and the session keeps the servers that it named until then, whether it stays or not.
   */
  async prompt(promptId: string, content: readonly Content[], sending: Sending = {}): Promise<readonly Entry[]> {
    const { sender, meta } = sending
    const said = { kind: 'prompt', promptId, content, ...(meta && { meta }) } as const
    if (sender === undefined) return this.dispatch(said)
    const additionalDirectories = this.#registries.directoriesOf(sender)
    this.#registries.began(promptId, sender)
    this.#clients.lend(promptId, sender)
    try {
      return await this.dispatch({ ...said, additionalDirectories })
    } finally {
      if (!isOpenPrompt(promptId, this.state)) this.#ended(promptId)
    }
  }

  /** This reader waits for the end of a prompt whose client has lost its connection: it lends what that one lent. */
  adoptPrompt(promptId: string, feed: Subscription): void {
    if (!isOpenPrompt(promptId, this.state)) return
    this.#clients.lend(promptId, feed)
    this.#goOn()
  }

  /** A reader from `from` on; it is told nothing before it asks to replay or go live. Throws SESSION_CLOSED. */
  attach(sink: SubscriptionSink, from: Cursor, attaching?: AttachOptions): Subscription {
    if (this.#log.closed.aborted) fail('SESSION_CLOSED', { session: this.id })
    const source = {
      ports: this.#ports,
      log: this.#log,
      onEnd: (subscription: Subscription) => this.#left(subscription),
    }
    const feed = new Subscription(source, sink, from)
    if (attaching !== undefined) this.setClientConfig(feed, attaching.opening)
    if (attaching?.lends !== undefined) this.#clients.joined(feed, attaching.lends)
    this.#subscribers.join(feed, attaching?.client)
    this.#idleTimer.cancel()
    this.#goOn()
    return feed
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

  /** From now on this reader's prompts have these directories, and these servers are its word. */
  setClientConfig(feed: Subscription, opening: SessionConfig): void {
    this.#registries.declare(feed, opening)
    this.releaseConfig(opening)
  }

  /** Whoever opened it will not attach, or has attached and speaks for itself. */
  releaseConfig(opening: SessionConfig): void {
    this.#registries.leave(opening)
  }

  /**
   * A reader has no answer to this question, and `why`. While others might have one it stays open; when nobody who is
   * attached is left who might, it is a no.
   */
  async decline(feed: Subscription, requestId: string, why?: string): Promise<void> {
    if (!this.#subscribers.declines(feed, requestId)) return
    await this.dispatch({ kind: 'answer', requestId, optionId: null, ...(why === undefined ? {} : { why }) })
  }

  /** Calls `unload` when no client has been attached for a while and nothing runs. */
  whenUnused(unload: () => void): void {
    this.#unload = unload
    this.#idleTimer.restart()
  }

  /** It is no longer stored: there is nothing to come back to. */
  deleted(): void {
    this.#subscribers.changed('deleted')
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
    this.#isClosing = true
    try {
      await this.#log.dispatch({ kind: 'close' })
      await this.#log.until((state) => !isBusy(state))
      await this.#log.dispatch({ kind: 'close' })
    } finally {
      this.#isClosing = false
    }
    await this.dispose()
    this.#subscribers.changed('closed')
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

  #left(feed: Subscription): void {
    this.#registries.leave(feed)
    this.#clients.left(feed)
    this.#subscribers.leave(feed)
    this.#idleTimer.restart()
  }

  /** Calls that wait for input wait for whoever can give it, and that is whoever has just come. */
  #goOn(): void {
    if (!this.#log.closed.aborted && this.#clients.canGoOn(this.state))
      this.#runInBackground(this.dispatch({ kind: 'resume_paused' }))
  }

  /** Nobody is here, and nothing would be lost. */
  #isUnused(): boolean {
    return !this.#log.closed.aborted && this.#subscribers.size === 0 && mayUnload(this.state)
  }

  #publish(entries: readonly Entry[]): void {
    try {
      this.#subscribers.publish(entries)
      for (const entry of entries) if (isEnd(entry)) this.#ended(entry.promptId)
    } finally {
      this.#idleTimer.restart()
    }
  }

  #ended(promptId: string): void {
    this.#registries.ended(promptId)
    this.#clients.ended(promptId)
  }

  #notStored(error: unknown, ahead: boolean): void {
    this.#turns.break(error)
    const isLost = isParleyError(error, 'JOURNAL_CONFLICT')
    // First of all gone, so that what is told of the failure is told as the last word.
    if (isLost) this.#runInBackground(this.dispose())
    this.#subscribers.failed(error)
    if (isLost) this.#subscribers.changed('closed')
    else if (ahead || this.#log.isDirty) this.#turns.recovery.begin()
  }

  #runInBackground(work: Promise<unknown>): void {
    work.catch(this.#ports.report)
  }
}
