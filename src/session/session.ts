/** A live session: its one writer, its readers, its running turn and its tools. */
import { fail, isParleyError } from '../errors/parley-error.ts'
import type { Content } from '../ports/content.ts'
import type { Cursor, SessionId } from '../ports/journal.ts'
import type { McpServer, ToolRegistry } from '../ports/tools.ts'
import type { Effect } from './batch.ts'
import type { Command } from './commands.ts'
import type { Entry } from './entries.ts'
import { Feed, type Sink } from './feed.ts'
import { type Existing, type State, isBusy } from './state.ts'
import { TurnRun } from './turn.ts'
import type { World } from './world.ts'
import { Writer } from './writer.ts'

/** Between two attempts to end what the disk did not let us end. Milliseconds. */
const RETRY = 1_000

/** What a client brings when it opens a session. */
export interface Opening {
  /** As the client gave it. */
  readonly cwd: string
  readonly additionalDirectories: readonly string[]
  readonly mcpServers: readonly McpServer[]
  /** The full name of the agent that answers from the next turn on; absent leaves that to the session. */
  readonly agent?: string | undefined
}

export class Session {
  readonly id: SessionId
  readonly #world: World
  readonly #writer: Writer
  readonly #feeds = new Set<Feed>()
  #opening: Opening
  #tools: ToolRegistry
  readonly #formerTools: ToolRegistry[] = []
  #run: TurnRun | undefined
  #gone = false
  #isClosing = false
  #idleWaiters: (() => void)[] = []

  constructor(world: World, state: State, opening: Opening) {
    this.id = state.id
    this.#world = world
    this.#opening = opening
    this.#tools = this.#openTools(opening)
    this.#writer = new Writer(world, state, {
      published: (entries) => this.#publish(entries),
      effect: (effect) => this.#act(effect),
      failed: (error, ahead) => this.#notStored(error, ahead),
    })
  }

  get state(): State {
    return this.#writer.state
  }

  /** The state of a session that was created; every session that anyone can reach was. */
  get existing(): Existing {
    const { state } = this
    return state.phase === 'absent' ? fail('SESSION_NOT_FOUND', { session: this.id }) : state
  }

  get readers(): number {
    return this.#feeds.size
  }

  /** How many MCP servers are connected for it now. */
  get mcpServers(): number {
    return this.#tools.list().servers.filter(({ state }) => state === 'ready').length
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

  /** Accepts a prompt; its end comes as an entry. Sent again with the same id, it runs once. */
  prompt(promptId: string, content: readonly Content[]): Promise<readonly Entry[]> {
    return this.dispatch({ kind: 'prompt', promptId, content })
  }

  /** A reader from `from` on; it is told nothing before it asks to replay or go live. */
  attach(sink: Sink, from: Cursor): Feed {
    const source = {
      id: this.id,
      journal: this.#world.journal,
      head: () => this.state.seq,
      leave: (feed: Feed) => this.#feeds.delete(feed),
    }
    const feed = new Feed(source, sink, from)
    this.#feeds.add(feed)
    return feed
  }

  /** Opened again while live: the directories of the request hold, and its MCP servers join those that others named. */
  async reopen(opening: Opening): Promise<void> {
    await this.dispatch(configuration(opening))
    const { cwd, additionalDirectories } = opening
    const merged = {
      cwd,
      additionalDirectories,
      mcpServers: mergeServers(this.#opening.mcpServers, opening.mcpServers),
    }
    if (isSameOpening(merged, this.#opening)) return
    // A running turn keeps the tools that it began with.
    this.#formerTools.push(this.#tools)
    this.#opening = merged
    this.#tools = this.#openTools(merged)
    if (!isBusy(this.state)) await this.#closeFormerTools()
  }

  /** Ends what an owner that died left running. A full disk puts that off: what is stored can be read meanwhile. */
  async endLeftovers(): Promise<void> {
    try {
      await this.dispatch({ kind: 'halt' })
    } catch (error) {
      if (!isParleyError(error, 'JOURNAL_FULL')) throw error
      this.#inTheBackground(this.#endWhatNobodyRuns())
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
    this.#run?.cancel()
    await this.#writer.settled()
    await Promise.all([this.#tools.close(), this.#closeFormerTools()])
  }

  async #closeFormerTools(): Promise<void> {
    await Promise.all(this.#formerTools.splice(0).map((tools) => tools.close()))
  }

  async #idle(): Promise<void> {
    while (isBusy(this.state)) await new Promise<void>((resolve) => this.#idleWaiters.push(resolve))
  }

  #publish(entries: readonly Entry[]): void {
    for (const feed of this.#feeds) {
      try {
        feed.push(entries)
      } catch (error) {
        // One client's trouble is not another's; the journal has what it missed.
        this.#world.report(error)
      }
    }
    this.#wakeIfIdle()
  }

  #wakeIfIdle(): void {
    if (isBusy(this.state)) return
    const waiters = this.#idleWaiters
    this.#idleWaiters = []
    for (const resume of waiters) resume()
    this.#inTheBackground(this.#closeFormerTools())
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
        this.#run?.answered(effect.requestId, effect.outcome)
    }
  }

  #play({ turn, answered }: Effect & { readonly kind: 'run' }): void {
    if (this.#gone) return
    const run = new TurnRun(this.#turnHost(), turn, answered)
    this.#run = run
    this.#inTheBackground(run.play())
  }

  #turnHost() {
    const { cwd, additionalDirectories } = this.#opening
    return {
      sessionId: this.id,
      world: this.#world,
      roots: [cwd, ...additionalDirectories],
      tools: this.#tools,
      dispatch: (command: Command) => this.#writer.dispatch(command),
      post: (command: Command, chars: number) => this.#writer.post(command, chars),
      allowedTools: () => this.existing.allowedTools,
      isGone: () => this.#gone,
    }
  }

  #notStored(error: unknown, ahead: boolean): void {
    this.#run?.break(error)
    const isLost = isParleyError(error, 'JOURNAL_CONFLICT')
    // First of all gone, so that what is told of the failure is told as the last word.
    if (isLost) this.#inTheBackground(this.leave())
    for (const feed of this.#feeds) this.#tellFailed(feed, error)
    if (!isLost && ahead) this.#inTheBackground(this.#endWhatNobodyRuns())
    this.#wakeIfIdle()
  }

  #tellFailed(feed: Feed, error: unknown): void {
    try {
      feed.failed(error)
    } catch (broken) {
      // One client's trouble is not another's.
      this.#world.report(broken)
    }
  }

  /** A turn that was stored although its writer was told that it was not has no agent, and never gets one. */
  async #endWhatNobodyRuns(): Promise<void> {
    const { clock, report } = this.#world
    while (!this.#gone && this.#nobodyRuns(this.state)) {
      try {
        await this.#writer.dispatch({ kind: 'halt' })
      } catch (error) {
        report(error)
        await clock.sleep(RETRY)
      }
    }
  }

  #nobodyRuns(state: State): boolean {
    return isBusy(state) && state.phase !== 'suspended' && state.turn.turnId !== this.#run?.turnId
  }

  #inTheBackground(work: Promise<void>): void {
    work.catch((error: unknown) => this.#world.report(error))
  }

  #openTools({ cwd, additionalDirectories, mcpServers }: Opening): ToolRegistry {
    return this.#world.tools.open({ scope: this.id, cwd, roots: [cwd, ...additionalDirectories], servers: mcpServers })
  }
}

export function configuration({ additionalDirectories, agent }: Opening): Command {
  return { kind: 'configure', additionalDirectories, ...(agent === undefined ? {} : { agent }) }
}

/** Whoever opens it may bring more than an opening is made of. */
function isSameOpening(left: Opening, right: Opening): boolean {
  const made = ({ cwd, additionalDirectories, mcpServers }: Opening): string =>
    JSON.stringify([cwd, additionalDirectories, mcpServers])
  return made(left) === made(right)
}

/** By name: who comes with none takes nothing from others, and a name said again is the newer one. */
function mergeServers(former: readonly McpServer[], given: readonly McpServer[]): readonly McpServer[] {
  const merged = new Map([...former, ...given].map((server) => [server.name, server]))
  return [...merged.values()]
}
