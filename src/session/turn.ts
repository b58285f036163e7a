/** One running turn: what its agent may do, and how it comes to its end whatever the agent, the tools or the disk do. */
import { fail, isParleyError, reasonOf } from '../errors/parley-error.ts'
import type { Memo, Question, Resumption, StopReason, ToolRequest, Turn } from '../ports/agent.ts'
import type { LentClient } from '../ports/client.ts'
import type { Cursor } from '../ports/journal.ts'
import type { AbortSource, Signal } from '../ports/signal.ts'
import type {
  CompactionPatch,
  Content,
  Meta,
  Notice,
  PermissionOutcome,
  PlanEntry,
  SlashCommand,
  ToolCallPatch,
  Usage,
} from '../ports/content.ts'
import type { ConfigValue, Settings } from '../ports/settings.ts'
import type { Bars, ToolRegistry, ToolResult } from '../ports/tools.ts'
import type { AnsweredQuestion } from './batch.ts'
import type { AgentEvent, Command } from './commands.ts'
import type { Entry, Failure } from './entries.ts'
import { offerOf } from './opening.ts'
import { type OpenCaller, openCaller } from './calling.ts'
import { memos, wordsSince } from './memory.ts'
import { type Existing, type OpenTurn, isKnownCall } from './state.ts'
import { callTool } from './tool-call.ts'
import type { AskingHost } from './client-work.ts'
import { ClientOfTurn } from './turn-client.ts'
import { type Standing, modeOf } from './verdict.ts'
import type { World } from './world.ts'

/** How long a cancelled agent may take to say what it has left to say. Milliseconds. */
const CANCEL_GRACE = 2_000
/** Between two attempts to store an end that the disk refused. Milliseconds. */
const END_RETRY = 1_000

/** The journal is closed, another owner's, or no longer has the session: there is nothing left to end. */
const NEVER_STORED = ['JOURNAL_CLOSED', 'JOURNAL_CONFLICT', 'SESSION_NOT_FOUND'] as const

/** What a turn needs of its session. */
export interface TurnHost {
  readonly sessionId: string
  readonly world: World
  readonly roots: readonly string[]
  readonly tools: ToolRegistry
  /** What the client whose prompt this is lends, while it is there. */
  readonly lent: () => LentClient | undefined
  dispatch(command: Command): Promise<readonly Entry[]>
  post(command: Command, chars: number): Promise<void>
  allowedTools(): readonly string[]
  settings(): Settings
  /** Where what the agents kept begins and ends. */
  steps(): Existing['steps']
  /** Whether it would change anything now. */
  isNews(command: Command): boolean
  /** To everyone who is attached. */
  notify(notice: Notice): void
  isGone(): boolean
}

interface OpenQuestion {
  readonly requestId: string
  readonly resolve: (outcome: PermissionOutcome) => void
}

export class TurnRun implements Turn {
  readonly turnId: string
  readonly sessionId: string
  readonly roots: readonly string[]
  readonly prompt: readonly Content[]
  readonly promptMeta?: Meta
  readonly resumed?: Resumption
  readonly tools: ToolRegistry
  readonly client: ClientOfTurn
  readonly #host: TurnHost
  readonly #abort: AbortSource
  #question: OpenQuestion | undefined
  #asking: Promise<unknown> = Promise.resolve()
  #broken: { readonly error: unknown } | undefined
  #isOver = false
  #calls = 0
  readonly #begun: OpenTurn

  constructor(host: TurnHost, turn: OpenTurn, answered?: AnsweredQuestion) {
    this.#host = host
    this.#abort = host.world.clock.abortSource()
    this.turnId = turn.turnId
    this.sessionId = host.sessionId
    this.roots = host.roots
    this.prompt = turn.prompt
    if (turn.meta !== undefined) this.promptMeta = turn.meta
    this.tools = host.tools
    this.#begun = turn
    this.client = this.#clientOf(host)
    if (answered !== undefined) {
      const { question, outcome } = answered
      const { resume: state, toolCallId } = question
      this.resumed = { state, toolCallId, outcome, ended: turn.endedCalls }
    }
  }

  get settings(): Settings {
    return this.#host.settings()
  }

  get signal(): Signal {
    return this.#abort.signal
  }

  /** Runs the agent and ends the turn, exactly once. Never throws. */
  async play(): Promise<void> {
    const ending = await this.#agentEnds()
    this.client.close()
    this.#isOver = true
    if (this.#host.isGone()) return
    await this.#end(ending)
    await this.#host.world.faults.at('turn.ended')
  }

  cancel(): void {
    // One that is over waits for nobody's patience, which would keep it and its session in memory meanwhile.
    if (!this.#isOver) this.#abort.abort()
  }

  /** The entries of this turn can no longer be stored: the agent is stopped where it next says something. */
  break(error: unknown): void {
    this.#broken ??= { error }
    this.#question?.resolve({ outcome: 'cancelled' })
    this.#abort.abort(error)
  }

  answered(requestId: string, outcome: PermissionOutcome): void {
    if (this.#question?.requestId === requestId) this.#question.resolve(outcome)
  }

  say(content: Content): Promise<void> {
    return this.#emit({ kind: 'chunk', role: 'agent', content })
  }

  think(content: Content): Promise<void> {
    return this.#emit({ kind: 'chunk', role: 'thought', content })
  }

  plan(entries: readonly PlanEntry[]): Promise<void> {
    return this.#emit({ kind: 'plan', entries })
  }

  title(title: string): Promise<void> {
    return this.#emit({ kind: 'title', title })
  }

  usage(usage: Usage): Promise<void> {
    return this.#emit({ kind: 'usage', usage })
  }

  offerCommands(commands: readonly SlashCommand[]): Promise<void> {
    return this.#emit({ kind: 'commands', commands })
  }

  async setMode(modeId: string): Promise<void> {
    await this.#store({ kind: 'mode', modeId })
  }

  async setConfigOption(configId: string, value: ConfigValue): Promise<void> {
    await this.#store({ kind: 'config_option', configId, value })
  }

  async notify(notice: Notice): Promise<void> {
    await this.#store({ kind: 'breath' })
    if (!this.#isOver && !this.#host.isGone()) this.#host.notify(notice)
  }

  compact(compactionId: string, patch: CompactionPatch): Promise<void> {
    return this.#emit({ kind: 'compaction', compactionId, patch })
  }

  summarize(compactionId: string, content: Content): Promise<void> {
    return this.#emit({ kind: 'compaction_summary', compactionId, content })
  }

  report(toolCallId: string, patch: ToolCallPatch): Promise<void> {
    return this.#emit({ kind: 'call', toolCallId, patch })
  }

  newToolCallId(): string {
    do {
      this.#calls += 1
    } while (isKnownCall(this.#begun, this.#callId()))
    return this.#callId()
  }

  #callId(): string {
    return `${this.turnId}-c${this.#calls}`
  }

  ask(question: Question): Promise<PermissionOutcome> {
    return this.#inLine(() => this.#askNow(question))
  }

  async remember(memo: unknown, kind?: 'fresh'): Promise<Cursor> {
    this.#requireOpen()
    const event: AgentEvent = { kind: 'step', step: memo, ...(kind === 'fresh' && { fresh: true }) }
    const entries = await this.#host.dispatch({ kind: 'agent', turnId: this.turnId, event })
    return entries.at(-1)?.seq ?? fail('TURN_OVER', { turn: this.turnId, session: this.sessionId })
  }

  recall(after: Cursor): AsyncIterable<Memo> {
    const { sessionId, world } = this.#host
    return memos({ journal: world.journal, session: sessionId, steps: this.#host.steps() }, after)
  }

  async saidSince(place: Cursor): Promise<string> {
    await this.#store({ kind: 'breath' })
    return wordsSince(this.#host.world.journal, this.sessionId, place)
  }

  call(request: ToolRequest): Promise<ToolResult> {
    const { world } = this.#host
    return callTool(request, {
      turn: this,
      faults: world.faults,
      standing: () => this.#standing(),
      begin: (toolCallId, more) => this.#store({ kind: 'call', toolCallId, patch: { status: 'in_progress', ...more } }),
      inLine: (work) => this.#inLine(work),
      ask: (question, tool) => this.#askNow(question, tool),
      caller: (toolCallId, bars) => this.#callerOf(toolCallId, bars),
    })
  }

  /** As it is at this moment; rules that cannot be read are told of, once. */
  async #standing(): Promise<Standing> {
    const { world, roots } = this.#host
    const rules = await world.rules.rulesFor(roots)
    if (rules.broken !== undefined) await this.#host.dispatch({ kind: 'notice', text: rules.broken })
    return { rules, mode: modeOf(this.settings), allowed: this.#host.allowedTools() }
  }

  #callerOf(toolCallId: string, bars: Bars): OpenCaller {
    // What a tool of our own does with the client is its call, which is told already.
    const quiet = { newToolCallId: () => toolCallId, report: async () => {}, store: async () => !this.#isOver }
    const client = this.#clientOf(this.#host, quiet)
    return openCaller(toolCallId, { turn: this, journal: this.#host.world.journal, client, bars })
  }

  #clientOf({ world: { clock }, roots, lent }: TurnHost, quiet?: Partial<AskingHost>): ClientOfTurn {
    return new ClientOfTurn({
      clock,
      roots,
      lent,
      signal: this.signal,
      newId: () => clock.id(),
      newToolCallId: () => this.newToolCallId(),
      report: (toolCallId, patch) => this.report(toolCallId, patch),
      store: (toolCallId, patch) => this.#store({ kind: 'call', toolCallId, patch }),
      tell: (event) => this.#store(event),
      ...quiet,
    })
  }

  /** One question at a time: the next one is asked when this one was answered. */
  #inLine<Result>(work: () => Promise<Result>): Promise<Result> {
    const asked = this.#asking.then(work)
    this.#asking = asked.catch(() => undefined)
    return asked
  }

  async #askNow({ toolCallId, patch, options, state }: Question, tool?: string): Promise<PermissionOutcome> {
    this.#requireOpen()
    const { world } = this.#host
    const requestId = world.clock.id()
    const answer = new Promise<PermissionOutcome>((resolve) => {
      this.#question = { requestId, resolve }
    })
    const ask = { toolCallId, patch, options, resume: state, ...(tool === undefined ? {} : { tool }) }
    const entries = await this.#host.dispatch({ kind: 'ask', turnId: this.turnId, requestId, ask })
    if (entries.length === 0) return { outcome: 'cancelled' }
    await world.faults.at('permission.asked')
    const outcome = await answer
    this.#question = undefined
    await world.faults.at('permission.answered')
    return outcome
  }

  async #agentEnds(): Promise<{ readonly stopReason: StopReason | 'error'; readonly error?: Failure }> {
    try {
      await this.#host.world.faults.at('turn.started')
      const stopReason = await Promise.race([this.#play(), this.#outOfPatience()])
      return this.#broken === undefined ? { stopReason } : failed(this.#broken.error)
    } catch (error) {
      if (this.#broken !== undefined) return failed(this.#broken.error)
      return this.signal.aborted ? { stopReason: 'cancelled' } : failed(error)
    }
  }

  async #play(): Promise<StopReason> {
    const name = this.#begun.agent
    const agent = await this.#host.world.agents.open(name)
    // It may offer something else by now than when the session was opened.
    const offer = offerOf(name, agent)
    if (this.#host.isNews(offer)) await this.#host.dispatch(offer)
    return this.#isOver ? 'cancelled' : agent.run(this)
  }

  /** An agent that does not stop when cancelled is no longer listened to. */
  #outOfPatience(): Promise<'cancelled'> {
    const { clock } = this.#host.world
    return new Promise((resolve) => {
      const wait = () => clock.after(CANCEL_GRACE, () => resolve('cancelled'))
      if (this.signal.aborted) wait()
      else this.signal.addEventListener('abort', wait, { once: true })
    })
  }

  /** An accepted prompt ends once, even if the disk must first have room again. */
  async #end(ending: { readonly stopReason: StopReason | 'error'; readonly error?: Failure }): Promise<void> {
    const { clock, report } = this.#host.world
    while (!this.#host.isGone()) {
      try {
        // A turn that lost words has not ended well, whatever its agent thinks.
        const end = this.#broken === undefined ? ending : failed(this.#broken.error)
        await this.#host.dispatch({ kind: 'end', turnId: this.turnId, ...end })
        return
      } catch (error) {
        if (NEVER_STORED.some((code) => isParleyError(error, code))) return
        report(error)
        await clock.sleep(END_RETRY)
      }
    }
  }

  async #emit(event: AgentEvent): Promise<void> {
    this.#requireOpen()
    await this.#host.post({ kind: 'agent', turnId: this.turnId, event }, charsOf(event))
  }

  /** False when the turn was over by then: nothing was stored, so nothing may be done. */
  async #store(event: AgentEvent): Promise<boolean> {
    this.#requireOpen()
    const entries = await this.#host.dispatch({ kind: 'agent', turnId: this.turnId, event })
    return entries.length > 0
  }

  /** Stops an agent that goes on speaking although nobody can hear it any more. */
  #requireOpen(): void {
    if (this.#broken !== undefined) throw this.#broken.error
    if (this.#isOver) fail('TURN_OVER', { turn: this.turnId, session: this.sessionId })
  }
}

function charsOf(event: AgentEvent): number {
  if (event.kind === 'chunk' && event.content.type === 'text') return event.content.text.length + 128
  return JSON.stringify(event).length
}

function failed(error: unknown): { readonly stopReason: 'error'; readonly error: Failure } {
  const known = isParleyError(error)
  return { stopReason: 'error', error: { code: known ? error.code : 'AGENT_FAILED', message: reasonOf(error) } }
}
