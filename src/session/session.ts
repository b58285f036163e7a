/** A live session: its one writer, its readers, its running turn and its tools. */
import { fail, isParleyError, reasonOf } from '../errors/parley-error.ts'
import type { Content, Meta, Notice } from '../ports/content.ts'
import type { Cursor, SessionId } from '../ports/journal.ts'
import type { ServerStatus } from '../ports/tools.ts'
import { Audience, type Client } from './audience.ts'
import type { AnsweredQuestion, Effect } from './batch.ts'
import type { Command } from './commands.ts'
import type { Entry } from './entries.ts'
import { decide } from './decide.ts'
import { isEnd, isOnlyWaiting } from './end-turn.ts'
import { Feed, type Sink } from './feed.ts'
import { type Attaching, type Opening, configuration } from './opening.ts'
import { Lenders } from './lenders.ts'
import { Offering } from './offering.ts'
import { ruleMadeBy } from './permission.ts'
import { Rest } from './rest.ts'
import { type Busy, type Existing, type State, isBusy, isOpenPrompt } from './state.ts'
import { Toolbox } from './toolbox.ts'
import { TurnRun } from './turn.ts'
import type { World } from './world.ts'
import { Writer } from './writer.ts'

/** Between two attempts at what the disk did not let us read or end. Milliseconds. */
const RETRY = 1_000
/** Makes nothing true; a writer that is unsure reads the journal for it. */
const NOTHING: Command = { kind: 'disown', promptIds: [] }

/** Who sends a prompt, and what they attach to it. */
export interface Sending {
  readonly sender?: Feed
  readonly meta?: Meta | undefined
}

export class Session {
  readonly id: SessionId
  readonly #world: World
  readonly #writer: Writer
  readonly #audience: Audience
  readonly #toolbox: Toolbox
  readonly #lenders = new Lenders()
  readonly #offering: Offering
  readonly #rest: Rest
  #whenUnused: () => void = () => {}
  #run: TurnRun | undefined
  #gone = false
  #mending = false
  #isClosing = false
  #idleWaiters: (() => void)[] = []

  constructor(world: World, state: State, opening: Opening) {
    this.id = state.id
    this.#world = world
    this.#audience = new Audience(world.report)
    this.#writer = new Writer(world, state, {
      published: (entries) => this.#publish(entries),
      effect: (effect) => this.#act(effect),
      failed: (error, ahead) => this.#notStored(error, ahead),
    })
    const { tools, clock, report } = world
    const changed = () => this.#toolsChanged()
    this.#offering = new Offering({
      agents: world.agents,
      now: () => this.#offered(),
      dispatch: (command) => this.#writer.dispatch(command),
      report,
    })
    this.#toolbox = new Toolbox({ session: state.id, cwd: opening.cwd, tools, changed, report })
    this.#toolbox.declare(opening, opening)
    this.#rest = new Rest({ clock, isUnused: () => this.#isUnused(), rest: () => this.#whenUnused() })
  }

  get state(): State {
    return this.#writer.state
  }

  /** The state of a session that was created; every session that anyone can reach was. */
  get existing(): Existing {
    const { state } = this
    return state.phase === 'absent' ? fail('SESSION_NOT_FOUND', { session: this.id }) : state
  }

  /** Who is attached, in the order in which they came. */
  get clients(): readonly (readonly [Feed, Client])[] {
    return this.#audience.clients
  }

  /** How many MCP servers are connected for it now. */
  get mcpServers(): number {
    return this.#toolbox.ready
  }

  /** The MCP servers as the turns of this reader have them. */
  serversFor(feed: Feed): readonly ServerStatus[] {
    return this.#toolbox.serversFor(feed)
  }

  /** It was halted, closed or lost to another writer: what is stored can be opened again, but not through this one. */
  get isGone(): boolean {
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
  adopt(promptId: string, feed: Feed): void {
    if (isOpenPrompt(promptId, this.state)) this.#lenders.lend(promptId, feed)
  }

  /** A reader from `from` on; it is told nothing before it asks to replay or go live. Throws SESSION_CLOSED. */
  attach(sink: Sink, from: Cursor, attaching?: Attaching): Feed {
    if (this.#gone) fail('SESSION_CLOSED', { session: this.id })
    const source = {
      id: this.id,
      journal: this.#world.journal,
      head: () => this.state.seq,
      leave: (feed: Feed) => this.#left(feed),
      later: (again: () => void) => void this.#world.clock.after(RETRY, again),
    }
    const feed = new Feed(source, sink, from)
    if (attaching !== undefined) this.declare(feed, attaching.opening)
    if (attaching?.lends !== undefined) this.#lenders.joined(feed, attaching.lends)
    this.#audience.join(feed, attaching?.client)
    this.#rest.cancel()
    return feed
  }

  /** Opened again while live: the directories of the request hold, and its MCP servers join those that others named. */
  async reopen(opening: Opening): Promise<void> {
    this.#toolbox.declare(opening, opening)
    this.#rest.consider()
    try {
      await this.dispatch(configuration(opening))
    } catch (error) {
      this.forgo(opening)
      throw error
    }
  }

  /** From now on this reader's prompts have these directories, and these servers are its word. */
  declare(feed: Feed, opening: Opening): void {
    this.#toolbox.declare(feed, opening)
    this.forgo(opening)
  }

  /** Whoever opened it will not attach, or has attached and speaks for itself. */
  forgo(opening: Opening): void {
    this.#toolbox.leave(opening)
  }

  /**
   * A reader has no answer to this question, and `why`. While others might have one it stays open; when nobody who is
   * attached is left who might, it is a no.
   */
  async decline(feed: Feed, requestId: string, why?: string): Promise<void> {
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

  /** Ends what an owner that died left running. A full disk puts that off: what is stored can be read meanwhile. */
  async endLeftovers(): Promise<void> {
    try {
      await this.dispatch({ kind: 'halt' })
    } catch (error) {
      if (!isParleyError(error, 'JOURNAL_FULL')) throw error
      this.#mend()
    }
  }

  /** Cancels what runs, then closes the session and frees what it held. The transcript stays. */
  async close(): Promise<void> {
    this.#isClosing = true
    try {
      await this.#writer.dispatch({ kind: 'close' })
      await this.#idle()
      await this.#writer.dispatch({ kind: 'close' })
    } finally {
      this.#isClosing = false
    }
    await this.leave()
    this.#audience.changed('closed')
  }

  /** The owner stops: a waiting turn is suspended, any other is interrupted. Nothing is stored after this. */
  async halt(): Promise<void> {
    const halted = this.#writer.dispatch({ kind: 'halt' })
    this.#gone = true
    try {
      await halted
    } finally {
      // A disk that is full leaves the halt to the next owner; processes end all the same.
      await this.leave()
    }
  }

  /** Lets go of everything without another entry. Idempotent. */
  async leave(): Promise<void> {
    this.#gone = true
    this.#rest.cancel()
    this.#run?.cancel()
    await this.#writer.settled()
    await this.#toolbox.close()
  }

  #left(feed: Feed): void {
    this.#toolbox.leave(feed)
    this.#audience.leave(feed)
    this.#rest.consider()
  }

  /** Nobody is here, and nothing would be lost. */
  #isUnused(): boolean {
    const { state } = this
    if (this.#gone || this.#audience.size > 0) return false
    return !isBusy(state) || state.phase === 'suspended' || this.#canBeSuspended(state)
  }

  /** What stands behind it in the queue would be withdrawn, and servers that a client has named would be forgotten. */
  #canBeSuspended(state: Busy): boolean {
    return isOnlyWaiting(state) && state.queue.length === 0 && !this.#toolbox.hasServers
  }

  async #idle(): Promise<void> {
    while (isBusy(this.state) && !this.#gone) await new Promise<void>((resolve) => this.#idleWaiters.push(resolve))
  }

  #publish(entries: readonly Entry[]): void {
    this.#audience.publish(entries)
    for (const entry of entries) if (isEnd(entry)) this.#ended(entry.promptId)
    this.#rest.consider()
    this.#wakeIfIdle()
  }

  #toolsChanged(): void {
    this.#audience.changed('mcp')
    this.#offering.changed()
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

  #wakeIfIdle(): void {
    if (isBusy(this.state) && !this.#gone) return
    const waiters = this.#idleWaiters
    this.#idleWaiters = []
    for (const resume of waiters) resume()
  }

  #act(effect: Effect): void {
    switch (effect.kind) {
      case 'run':
        this.#play(effect)
        return
      case 'cancel':
        this.#run?.cancel()
        return
      case 'answer':
        this.#answer(effect.answered)
    }
  }

  #play({ turn, answered }: Effect & { readonly kind: 'run' }): void {
    if (this.#gone) return
    const { additionalDirectories } = turn
    const tools = this.#toolbox.lend(additionalDirectories)
    const roots = [this.existing.cwd, ...additionalDirectories]
    const lent = () => this.#lenders.of(turn.promptId)
    const run = new TurnRun({ ...this.#turnHost(), roots, lent, tools: tools.registry }, turn, answered)
    this.#run = run
    const kept = answered === undefined ? undefined : this.#keep(answered)
    const played = kept === undefined ? run.play() : kept.then(() => run.play())
    this.#inTheBackground(played.then(() => tools.giveBack()))
  }

  #answer(answered: AnsweredQuestion): void {
    const run = this.#run
    const go = (): void => run?.answered(answered.question.requestId, answered.outcome)
    const kept = this.#keep(answered)
    if (kept === undefined) go()
    else this.#inTheBackground(kept.then(go))
  }

  /** The rule that an answer makes is there before what it was given to: the next call of its kind is not asked about. */
  #keep({ question, outcome }: AnsweredQuestion): Promise<unknown> | undefined {
    const rule = ruleMadeBy(question, outcome)
    if (rule === undefined) return undefined
    const { rules, report } = this.#world
    return rules.remember(this.existing.cwd, rule).catch((error: unknown) => {
      report(error)
      const text = `${rule.effect === 'allow' ? 'Allowed' : 'Refused'} this once only: the rule for this project could not be stored (${reasonOf(error)}).`
      return this.#writer.dispatch({ kind: 'notice', text }).catch(report)
    })
  }

  #turnHost() {
    return {
      sessionId: this.id,
      world: this.#world,
      dispatch: (command: Command) => this.#writer.dispatch(command),
      post: (command: Command, chars: number) => this.#writer.post(command, chars),
      allowedTools: () => this.existing.allowedTools,
      settings: () => this.existing.settings,
      steps: () => this.existing.steps,
      isNews: (command: Command) => decide(command, this.state).length > 0,
      notify: (notice: Notice) => this.#audience.notify(notice),
      isGone: () => this.#gone,
    }
  }

  #notStored(error: unknown, ahead: boolean): void {
    this.#run?.break(error)
    const isLost = isParleyError(error, 'JOURNAL_CONFLICT')
    // First of all gone, so that what is told of the failure is told as the last word.
    if (isLost) this.#inTheBackground(this.leave())
    this.#audience.failed(error)
    if (isLost) this.#audience.changed('closed')
    else if (ahead || this.#writer.isUnsure) this.#mend()
    this.#wakeIfIdle()
  }

  #mend(): void {
    if (this.#mending) return
    this.#mending = true
    this.#inTheBackground(this.#endWhatNobodyRuns().finally(() => (this.#mending = false)))
  }

  /**
   * A turn that was stored although its writer was told that it was not has no agent, and never gets one. A writer that
   * could not even read what is stored tries that first, until it can.
   */
  async #endWhatNobodyRuns(): Promise<void> {
    const { clock, report } = this.#world
    while (!this.#gone && (this.#writer.isUnsure || isNobodys(this.state, this.#run))) {
      try {
        await this.#writer.dispatch(isNobodys(this.state, this.#run) ? { kind: 'halt' } : NOTHING)
      } catch (error) {
        report(error)
        await clock.sleep(RETRY)
      }
    }
  }

  #inTheBackground(work: Promise<void>): void {
    work.catch((error: unknown) => this.#world.report(error))
  }
}

function isNobodys(state: State, run: TurnRun | undefined): boolean {
  return isBusy(state) && state.phase !== 'suspended' && state.turn.turnId !== run?.turnId
}
