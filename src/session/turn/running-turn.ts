/** One running turn: the operations of its agent, and how the turn ends even if the agent, a tool or the disk fails. */
import { fail, isParleyError, reasonOf, storedDetails } from '../../errors/parley-error.ts'
import type {
  CheckpointEntry,
  MessagePart,
  Question,
  ResumedCall,
  Resumption,
  StopReason,
  ToolRequest,
} from '../../ports/agent.ts'
import type { PathAccessFilter } from '../../ports/values/path-access.ts'
import type { ClientPeer } from '../../ports/client-peer.ts'
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
} from '../../ports/values/content.ts'
import type { Cursor } from '../../ports/journal.ts'
import type { GrantSubject } from '../../ports/rules.ts'
import type { ConfigValue, Settings } from '../../ports/values/settings.ts'
import type { AbortSource, Signal } from '../../ports/values/signal.ts'
import type { ToolInputRequest, ToolRegistry, ToolResult } from '../../ports/tools.ts'
import type { SessionAgents } from '../session-agents.ts'
import { TurnClientServices } from '../client-services/turn-client.ts'
import type { AnsweredQuestion } from '../domain/decide.ts'
import type { AgentEvent } from '../domain/commands.ts'
import type { Entry, Failure } from '../domain/entries.ts'
import { type OpenTurn, isKnownCall } from '../domain/state.ts'
import type { SessionLog, Urgency } from '../log/session-log.ts'
import { type PolicyContext, modeOf, pathAccessFilterForAgent } from '../permission/policy.ts'
import type { SessionPorts } from '../session-ports.ts'
import type { AttachedClients, Subscribers } from '../subscribers/subscribers.ts'
import { callTool } from '../tool-call/call-tool.ts'
import { assistantTextAfter, interruptedPromptsAfter, readCheckpoints } from './checkpoints.ts'
import type { LiveTurn } from './live-turn.ts'
import { PermissionPrompts } from '../permission/authorize.ts'

/** How long an agent may take to end its turn after a cancel. */
const CANCEL_GRACE_MS = 2_000
/** Between two attempts to store the end of a turn. */
const END_RETRY_MS = 1_000

/** The journal is closed or damaged, belongs to another server, or no longer has the session: the end cannot be stored. */
const NEVER_STORED = ['JOURNAL_CLOSED', 'JOURNAL_CONFLICT', 'JOURNAL_CORRUPT', 'SESSION_NOT_FOUND'] as const

/** The parts of the session that a turn works with. */
export interface TurnParts {
  readonly ports: SessionPorts
  readonly log: SessionLog
  readonly agents: SessionAgents
  readonly clients: AttachedClients
  readonly subscribers: Subscribers
}

/** How the turn begins: its directories, the tools that it keeps until its end, and the answer that resumed it. */
export interface TurnStart {
  readonly roots: readonly string[]
  readonly tools: ToolRegistry
  readonly answered?: AnsweredQuestion | undefined
}

interface Ending {
  readonly stopReason: StopReason | 'error'
  readonly error?: Failure
}

export class RunningTurn implements LiveTurn {
  readonly turnId: string
  readonly sessionId: string
  readonly promptId: string
  readonly ports: SessionPorts
  readonly clients: AttachedClients
  readonly roots: readonly string[]
  readonly by: 'prompt' | 'agent'
  readonly prompt: readonly Content[]
  readonly promptMeta?: Meta
  readonly resumed?: Resumption
  readonly tools: ToolRegistry
  readonly #parts: TurnParts
  readonly #begun: OpenTurn
  readonly #abort: AbortSource
  #client: TurnClientServices | undefined
  #permissions: PermissionPrompts | undefined
  #newCalls = 0
  #isOver = false
  #broken: { readonly error: unknown } | undefined

  constructor(parts: TurnParts, turn: OpenTurn, { roots, tools, answered }: TurnStart) {
    this.#parts = parts
    this.#begun = turn
    this.#abort = parts.ports.clock.abortSource()
    this.ports = parts.ports
    this.clients = parts.clients
    this.sessionId = parts.log.state.id
    this.turnId = turn.turnId
    this.promptId = turn.promptId
    this.by = turn.by ?? 'prompt'
    this.prompt = turn.prompt
    if (turn.meta !== undefined) this.promptMeta = turn.meta
    this.roots = roots
    this.tools = tools
    const calls = resumedCalls(turn, answered)
    if (calls.length > 0) this.resumed = { calls, ended: turn.endedCalls }
  }

  /** Runs the agent and ends the turn, exactly once. Never throws. */
  async play(): Promise<void> {
    const ending = await this.#runAgent()
    this.#client?.close()
    this.#isOver = true
    if (this.#parts.log.closed.aborted) return
    await this.#end(ending)
    await this.ports.faults.at('turn.ended')
  }

  cancel(): void {
    // A finished turn needs no grace timer, which would keep the session in memory.
    if (!this.#isOver) this.#abort.abort()
  }

  /** The entries of this turn can no longer be stored: whatever the agent says next throws this error. */
  break(error: unknown): void {
    this.#broken ??= { error }
    this.#permissions?.drop()
    this.#abort.abort(error)
  }

  answered(requestId: string, outcome: PermissionOutcome): void {
    this.#permissions?.answered(requestId, outcome)
  }

  get settings(): Settings {
    return this.#parts.log.existing.settings
  }

  get signal(): Signal {
    return this.#abort.signal
  }

  get isOver(): boolean {
    return this.#isOver
  }

  get client(): TurnClientServices {
    this.#client ??= new TurnClientServices(this)
    return this.#client
  }

  get peer(): ClientPeer | undefined {
    return this.clients.of(this.promptId)
  }

  say(content: Content, part?: MessagePart): Promise<void> {
    return this.#post(chunkOf('agent', content, part))
  }

  think(content: Content, part?: MessagePart): Promise<void> {
    return this.#post(chunkOf('thought', content, part))
  }

  sayAll(role: 'agent' | 'thought', texts: readonly string[]): Promise<void> {
    return this.#post({ kind: 'chunks', role, texts })
  }

  tellOutside(role: 'user' | 'agent', message: number, content: Content): Promise<void> {
    return this.#post({ kind: 'outside_chunk', role, message, content })
  }

  plan(entries: readonly PlanEntry[]): Promise<void> {
    return this.#post({ kind: 'plan', entries })
  }

  title(title: string): Promise<void> {
    return this.#post({ kind: 'title', title })
  }

  usage(usage: Usage): Promise<void> {
    return this.#post({ kind: 'usage', usage })
  }

  offerCommands(commands: readonly SlashCommand[]): Promise<void> {
    return this.#post({ kind: 'commands', commands }, 'soon')
  }

  foreign(protocol: string, update: unknown): Promise<void> {
    return this.#post({ kind: 'foreign', protocol, update })
  }

  compact(compactionId: string, patch: CompactionPatch): Promise<void> {
    return this.#post({ kind: 'compaction', compactionId, patch })
  }

  summarize(compactionId: string, content: Content): Promise<void> {
    return this.#post({ kind: 'compaction_summary', compactionId, content })
  }

  report(toolCallId: string, patch: ToolCallPatch): Promise<void> {
    return this.#post({ kind: 'call', toolCallId, patch })
  }

  async setMode(modeId: string): Promise<void> {
    await this.store({ kind: 'mode', modeId })
  }

  async setConfigOption(configId: string, value: ConfigValue): Promise<void> {
    await this.store({ kind: 'config_option', configId, value })
  }

  async notify(notice: Notice): Promise<void> {
    await this.store({ kind: 'flush' })
    const { log, subscribers } = this.#parts
    if (!this.#isOver && !log.closed.aborted) subscribers.notify(notice)
  }

  newToolCallId(): string {
    let id: string
    do {
      this.#newCalls += 1
      id = `${this.turnId}-c${this.#newCalls}`
    } while (isKnownCall(this.#begun, id))
    return id
  }

  ask(question: Question): Promise<PermissionOutcome> {
    return question.survives === false
      ? this.askNow(question)
      : this.afterEarlierPermissions(() => this.askNow(question))
  }

  afterEarlierPermissions<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.#prompts().inLine(work)
  }

  async askNow(question: Question, grant?: GrantSubject): Promise<PermissionOutcome> {
    this.#requireOpen()
    return this.#prompts().ask(question, grant)
  }

  #prompts(): PermissionPrompts {
    this.#permissions ??= new PermissionPrompts(this.ports, this.#parts.log, this.turnId)
    return this.#permissions
  }

  call(request: ToolRequest): Promise<ToolResult> {
    return callTool(request, this)
  }

  earlierInputRequest(toolCallId: string): ToolInputRequest | undefined {
    const { inputRequired } = this.#begun
    return Object.hasOwn(inputRequired, toolCallId) ? inputRequired[toolCallId]?.input : undefined
  }

  async policyContext(): Promise<PolicyContext> {
    const { log, ports } = this.#parts
    const rules = await ports.rules.rulesFor(this.roots)
    // The same notice is stored only once.
    if (rules.broken !== undefined) await log.dispatch({ kind: 'notice', text: rules.broken })
    return { rules, mode: modeOf(this.settings), grants: log.existing.grants }
  }

  async pathAccess(): Promise<PathAccessFilter> {
    return pathAccessFilterForAgent(await this.ports.rules.rulesFor(this.roots))
  }

  async checkpoint(data: unknown, kind?: 'reset', urgency?: Urgency): Promise<Cursor> {
    const entries = await this.#store({ kind: 'checkpoint', data, ...(kind === 'reset' && { reset: true }) }, urgency)
    return entries.at(-1)?.seq ?? fail('TURN_OVER', { turn: this.turnId, session: this.sessionId })
  }

  readCheckpoints(after: Cursor): AsyncIterable<CheckpointEntry> {
    const { checkpointRange } = this.#parts.log.existing
    return readCheckpoints({ journal: this.ports.journal, session: this.sessionId, checkpointRange }, after)
  }

  async assistantTextAfter(cursor: Cursor): Promise<string> {
    await this.store({ kind: 'flush' })
    return assistantTextAfter(this.ports.journal, this.sessionId, cursor)
  }

  async interruptedPromptsAfter(cursor: Cursor): Promise<readonly (readonly Content[])[]> {
    if (this.#parts.log.existing.turns <= 1) return []
    return interruptedPromptsAfter(this.ports.journal, this.sessionId, cursor)
  }

  async store(event: AgentEvent): Promise<boolean> {
    return (await this.#store(event)).length > 0
  }

  async #store(event: AgentEvent, urgency?: Urgency): Promise<readonly Entry[]> {
    this.#requireOpen()
    return this.#parts.log.dispatch({ kind: 'agent', turnId: this.turnId, event }, urgency)
  }

  /** Resolves when there is room for more, not when the event is stored. */
  async #post(event: AgentEvent, urgency?: Urgency): Promise<void> {
    this.#requireOpen()
    return this.#parts.log.post({ kind: 'agent', turnId: this.turnId, event }, charsOf(event), urgency)
  }

  /** Stops an agent that continues although its turn is over. */
  #requireOpen(): void {
    if (this.#broken !== undefined) throw this.#broken.error
    if (this.#isOver) fail('TURN_OVER', { turn: this.turnId, session: this.sessionId })
  }

  async #runAgent(): Promise<Ending> {
    try {
      await this.ports.faults.at('turn.started')
      const stopReason = await Promise.race([this.#openAndRun(), this.#cancelGrace()])
      return this.#broken === undefined ? { stopReason } : failedWith(this.#broken.error)
    } catch (error) {
      if (this.#broken !== undefined) return failedWith(this.#broken.error)
      return this.signal.aborted ? { stopReason: 'cancelled' } : failedWith(error)
    }
  }

  async #openAndRun(): Promise<StopReason> {
    const { agents } = this.#parts
    const name = this.#begun.agent
    const agent = await agents.open(name)
    // Its capabilities may have changed since they were stored.
    const stored = agents.offer(name, agent)
    if (stored !== undefined) await stored
    return this.#isOver ? 'cancelled' : agent.run(this)
  }

  /** Resolves some time after a cancel: the turn ends then, also if its agent has not. */
  #cancelGrace(): Promise<'cancelled'> {
    const { clock } = this.ports
    return new Promise((resolve) => {
      const wait = () => clock.setTimer(CANCEL_GRACE_MS, () => resolve('cancelled'))
      if (this.signal.aborted) wait()
      else this.signal.addEventListener('abort', wait, { once: true })
    })
  }

  /** An accepted prompt ends once, even if the disk must first have room again. */
  async #end(ending: Ending): Promise<void> {
    const { log } = this.#parts
    while (!log.closed.aborted) {
      try {
        // A turn that lost entries ends with an error, whatever its agent returned.
        const end = this.#broken === undefined ? ending : failedWith(this.#broken.error)
        await log.dispatch({ kind: 'end', turnId: this.turnId, ...end })
        return
      } catch (error) {
        if (NEVER_STORED.some((code) => isParleyError(error, code))) return
        this.ports.report(error)
        await this.ports.clock.sleep(END_RETRY_MS)
      }
    }
  }
}

/** The call that the user was asked about comes first: without the restart it would have continued first. */
function resumedCalls({ inputRequired }: OpenTurn, answered?: AnsweredQuestion): readonly ResumedCall[] {
  const begun = Object.entries(inputRequired).map(([toolCallId, { resume: state }]) => ({
    toolCallId,
    state,
    outcome: { outcome: 'begun' } as const,
  }))
  if (answered === undefined) return begun
  const { outcome, question } = answered
  const { toolCallId, resume: state } = question
  return [{ toolCallId, state, outcome }, ...begun]
}

function chunkOf(role: 'agent' | 'thought', content: Content, part: MessagePart | undefined): AgentEvent {
  const { messageId } = part ?? {}
  return { kind: 'chunk', role, content, ...(messageId !== undefined && { messageId }) }
}

/** What a chunk takes besides its text. */
const CHUNK_CHARS = 128

function charsOf(event: AgentEvent): number {
  if (event.kind === 'chunk' && event.content.type === 'text') return event.content.text.length + CHUNK_CHARS
  if (event.kind === 'chunks') return event.texts.reduce((sum, text) => sum + text.length + CHUNK_CHARS, 0)
  return JSON.stringify(event).length
}

/** The end of a turn that an error has ended. */
export function failedWith(error: unknown): { readonly stopReason: 'error'; readonly error: Failure } {
  const code = isParleyError(error) ? error.code : 'AGENT_FAILED'
  return { stopReason: 'error', error: { code, message: reasonOf(error), ...storedDetails(error) } }
}
