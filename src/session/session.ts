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
import type { Agents, LentVariables } from '../ports/agent.ts'
import { WhenIdle } from './lifecycle/when-idle.ts'
import { ClientProviders } from './client-services/client-providers.ts'
import { WriterRecovery } from './log/writer-recovery.ts'
import { SlashCommandSync } from './tools/slash-command-sync.ts'
import { IdleTimer, mayUnload } from './lifecycle/idle-timer.ts'
import { TurnRunner } from './turn/turn-runner.ts'
import { type Existing, type State, isBusy, isOpenPrompt } from './domain/state.ts'
import { RegistryPool } from './tools/registry-pool.ts'
import type { SessionPorts } from './session-ports.ts'
import { Writer } from './log/writer.ts'

/** Who sends a prompt, and what they attach to it. */
export interface Sending {
  readonly sender?: Subscription
  readonly meta?: Meta | undefined
}

export class Session {
  readonly id: SessionId
  readonly #world: SessionPorts
  readonly #writer: Writer
  readonly #audience: Subscribers
  readonly #toolbox: RegistryPool
  readonly #lenders = new ClientProviders()
  readonly #offering: SlashCommandSync
  readonly #rest: IdleTimer
  #whenUnused: () => void = () => {}
  readonly #runs: TurnRunner
  readonly #mending: WriterRecovery
  /** Of the client that came last and had any: the session goes on with it when that client has left. */
  #lent: LentVariables | undefined
  #gone = false
  #isClosing = false
  readonly #idle = new WhenIdle(() => this.#gone || !isBusy(this.state))

  constructor(given: SessionPorts, state: State, opening: SessionConfig) {
    const world = { ...given, agents: agentsWith(given.agents, () => this.#lent) }
    this.id = state.id
    this.#world = world
    this.#lent = opening.lent
    this.#audience = new Subscribers(world.report)
    const writer = new Writer(world, state, {
      published: (entries) => this.#publish(entries),
      effect: (effect) => this.#runs.act(effect),
      failed: (error, ahead) => this.#notStored(error, ahead),
    })
    this.#writer = writer
    const { agents, tools, clock, report } = world
    const changed = (): void => {
      this.#audience.changed('mcp')
      this.#offering.changed()
    }
    const dispatch = (command: Command) => writer.dispatch(command)
    const isGone = () => this.#gone
    this.#offering = new SlashCommandSync({ agents, now: () => this.#offered(), dispatch, report })
    this.#toolbox = new RegistryPool({ session: state.id, cwd: opening.cwd, tools, changed, report })
    this.#toolbox.declare(opening, opening)
    this.#runs = new TurnRunner({
      sessionId: state.id,
      world,
      toolbox: this.#toolbox,
      lenders: this.#lenders,
      state: () => this.requireCreated,
      dispatch,
      post: (command, chars) => writer.post(command, chars),
      notify: (notice) => this.#audience.notify(notice),
      isGone,
      mend: () => this.#mending.begin(),
    })
    const endWithoutAgent = () => this.#runs.endWithoutAgent(writer.state)
    this.#mending = new WriterRecovery({ world, isGone, isUnsure: () => writer.isDirty, endWithoutAgent, dispatch })
    this.#rest = new IdleTimer({ clock, isUnused: () => this.#isUnused(), rest: () => this.#whenUnused() })
  }

  get state(): State {
    return this.#writer.state
  }

  /** The state of a session that was created; every session that anyone can reach was. */
  get requireCreated(): Existing {
    const { state } = this
    return state.phase === 'absent' ? fail('SESSION_NOT_FOUND', { session: this.id }) : state
  }

  /** Who is attached, in the order in which they came. */
  get clients(): readonly (readonly [Subscription, SubscribedClient])[] {
    return this.#audience.clients
  }

  /** Its agents, with what its clients have lent. */
  get agents(): Agents {
    return this.#world.agents
  }

  /** What its turns have besides an agent. */
  get tools(): RegistryPool {
    return this.#toolbox
  }

  /** The MCP servers as the turns of this reader have them. */
  serversFor(feed: Subscription): readonly ServerStatus[] {
    return this.#toolbox.serversFor(feed)
  }

  /** It was halted, closed or lost to another writer: what is stored can be opened again, but not through this one. */
  get isDisposed(): boolean {
    return this.#gone
  }

  /** Throws SESSION_CLOSED once the session is gone, and for a prompt that would keep it from closing. */
  async dispatch(command: Command): Promise<readonly Entry[]> {
    const comesTooLate = this.#gone || (this.#isClosing && command.kind === 'prompt')
    return comesTooLate ? fail('SESSION_CLOSED', { session: this.id }) : this.#writer.dispatch(command)
  }

  /**
   * Accepts a prompt; its end comes as an entry. Sent again with the same id, it runs once. Its turn has the directories
   * that `sender` declared, and the session keeps the servers that it named until then, whether it stays or not.
   */
  async prompt(promptId: string, content: readonly Content[], sending: Sending = {}): Promise<readonly Entry[]> {
    const { sender, meta } = sending
    const said = { kind: 'prompt', promptId, content, ...(meta && { meta }) } as const
    if (sender === undefined) return this.dispatch(said)
    const additionalDirectories = this.#toolbox.directoriesOf(sender)
    this.#toolbox.began(promptId, sender)
    this.#lenders.lend(promptId, sender)
    try {
      return await this.dispatch({ ...said, additionalDirectories })
    } finally {
      if (!isOpenPrompt(promptId, this.state)) this.#ended(promptId)
    }
  }

  /** This reader waits for the end of a prompt whose client has lost its connection: it lends what that one lent. */
  adoptPrompt(promptId: string, feed: Subscription): void {
    if (!isOpenPrompt(promptId, this.state)) return
    this.#lenders.lend(promptId, feed)
    this.#goOn()
  }

  /** A reader from `from` on; it is told nothing before it asks to replay or go live. Throws SESSION_CLOSED. */
  attach(sink: SubscriptionSink, from: Cursor, attaching?: AttachOptions): Subscription {
    if (this.#gone) fail('SESSION_CLOSED', { session: this.id })
    const source = {
      id: this.id,
      journal: this.#world.journal,
      head: () => this.state.seq,
      leave: (feed: Subscription) => this.#left(feed),
      clock: this.#world.clock,
    }
    const feed = new Subscription(source, sink, from)
    if (attaching !== undefined) this.setClientConfig(feed, attaching.opening)
    if (attaching?.lends !== undefined) this.#lenders.joined(feed, attaching.lends)
    this.#audience.join(feed, attaching?.client)
    this.#rest.cancel()
    this.#goOn()
    return feed
  }

  /** Opened again while live: the directories of the request hold, and its MCP servers join those that others named. */
  async applyConfig(opening: SessionConfig): Promise<void> {
    this.#lent = opening.lent ?? this.#lent
    this.#toolbox.declare(opening, opening)
    this.#rest.consider()
    try {
      await this.configure(opening)
    } catch (error) {
      this.releaseConfig(opening)
      throw error
    }
  }

  /** From now on this reader's prompts have these directories, and these servers are its word. */
  setClientConfig(feed: Subscription, opening: SessionConfig): void {
    this.#toolbox.declare(feed, opening)
    this.releaseConfig(opening)
  }

  /** Whoever opened it will not attach, or has attached and speaks for itself. */
  releaseConfig(opening: SessionConfig): void {
    this.#toolbox.leave(opening)
  }

  /**
   * A reader has no answer to this question, and `why`. While others might have one it stays open; when nobody who is
   * attached is left who might, it is a no.
   */
  async decline(feed: Subscription, requestId: string, why?: string): Promise<void> {
    if (!this.#audience.declines(feed, requestId)) return
    await this.dispatch({ kind: 'answer', requestId, optionId: null, ...(why === undefined ? {} : { why }) })
  }

  /** Calls `rest` when nobody has been attached for a while and nothing runs. */
  whenUnused(rest: () => void): void {
    this.#whenUnused = rest
    this.#rest.consider()
  }

  /** It is no longer stored: there is nothing to come back to. */
  deleted(): void {
    this.#audience.changed('deleted')
  }

  /** Ends what an owner that died left running; a disk that takes nothing puts that off. */
  async recoverInterrupted(): Promise<void> {
    if (!(await this.dispatchIfStorable({ kind: 'halt' }))) this.#mending.begin()
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
      this.#world.report(error)
      return false
    }
  }

  /** Cancels what runs, then closes the session and frees what it held. The transcript stays. */
  async close(): Promise<void> {
    this.#isClosing = true
    try {
      await this.#writer.dispatch({ kind: 'close' })
      await this.#idle.wait()
      await this.#writer.dispatch({ kind: 'close' })
    } finally {
      this.#isClosing = false
    }
    await this.dispose()
    this.#audience.changed('closed')
  }

  /** The owner stops, or nobody has wanted it: a waiting turn is suspended, any other is interrupted. Nothing is stored after this. */
  async shutdown(): Promise<void> {
    const halted = this.#writer.dispatch({ kind: 'halt' })
    this.#gone = true
    try {
      await halted
    } finally {
      // A disk that is full leaves the halt to the next owner; processes end all the same.
      await this.dispose()
    }
  }

  /** Lets go of everything without another entry. Idempotent. */
  async dispose(): Promise<void> {
    this.#gone = true
    this.#rest.cancel()
    this.#runs.cancel()
    await this.#writer.settled()
    await this.#toolbox.close()
  }

  #left(feed: Subscription): void {
    this.#toolbox.leave(feed)
    this.#lenders.left(feed)
    this.#audience.leave(feed)
    this.#rest.consider()
  }

  /** Calls that wait for input wait for whoever can give it, and that is whoever has just come. */
  #goOn(): void {
    if (!this.#gone && this.#lenders.canGoOn(this.state))
      this.#runInBackground(this.dispatch({ kind: 'resume_paused' }))
  }

  /** Nobody is here, and nothing would be lost. */
  #isUnused(): boolean {
    return !this.#gone && this.#audience.size === 0 && mayUnload(this.state)
  }

  #publish(entries: readonly Entry[]): void {
    try {
      this.#audience.publish(entries)
      for (const entry of entries) if (isEnd(entry)) this.#ended(entry.promptId)
    } finally {
      this.#rest.consider()
      this.#idle.look()
    }
  }

  #offered() {
    const { state } = this
    if (this.#gone || state.phase === 'absent' || state.phase === 'closed') return undefined
    const { cwd, additionalDirectories } = state
    const list = this.#toolbox.list(additionalDirectories)
    return list && { state, list, roots: [cwd, ...additionalDirectories] }
  }

  #ended(promptId: string): void {
    this.#toolbox.ended(promptId)
    this.#lenders.ended(promptId)
  }

  #notStored(error: unknown, ahead: boolean): void {
    this.#runs.break(error)
    const isLost = isParleyError(error, 'JOURNAL_CONFLICT')
    // First of all gone, so that what is told of the failure is told as the last word.
    if (isLost) this.#runInBackground(this.dispose())
    this.#audience.failed(error)
    if (isLost) this.#audience.changed('closed')
    else if (ahead || this.#writer.isDirty) this.#mending.begin()
    this.#idle.look()
  }

  #runInBackground(work: Promise<unknown>): void {
    work.catch((error: unknown) => this.#world.report(error))
  }
}
