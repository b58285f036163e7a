/** One running turn: what its agent may do, and how it comes to its end whatever the agent, the tools or the disk do. */
import { fail, isParleyError, reasonOf } from '../../errors/parley-error.ts'
import type {
  CheckpointEntry,
  Question,
  ResumedCall,
  Resumption,
  StopReason,
  ToolRequest,
  Turn,
} from '../../ports/agent.ts'
import type { Content, Meta, PermissionOutcome } from '../../ports/content.ts'
import type { Cursor } from '../../ports/journal.ts'
import type { Settings } from '../../ports/settings.ts'
import type { AbortSource, Signal } from '../../ports/signal.ts'
import type { PathAccessFilter } from '../../ports/bars.ts'
import type { GrantSubject } from '../../ports/rules.ts'
import type { ToolInputRequest, ToolRegistry, ToolResult } from '../../ports/tools.ts'
import { pathAccessFilterForAgent } from '../permission/path-access-filter.ts'
import type { AnsweredQuestion } from '../domain/batch.ts'
import { type OpenToolCallContext, openToolCallContext } from '../tool-call/tool-call-context.ts'
import type { AttachedClients } from '../subscribers/attached-clients.ts'
import type { AskingHost } from '../client-services/client-request.ts'
import type { AgentEvent } from '../domain/commands.ts'
import type { Failure } from '../domain/entries.ts'
import { memos, interruptedPromptsAfter, assistantTextAfter } from './checkpoints.ts'
import type { SessionAgents } from '../agents.ts'
import { InputRequired } from '../tool-call/input-required.ts'
import { type OpenTurn, isKnownCall } from '../domain/state.ts'
import { callTool } from '../tool-call/call-tool.ts'
import { TurnClientServices } from './turn-client-services.ts'
import { PermissionPrompts } from './permission-prompt.ts'
import { TurnVoice, type VoiceHost } from './turn-voice.ts'
import { type PolicyContext, modeOf } from '../permission/policy.ts'
import type { SessionPorts } from '../session-ports.ts'

/** How long a cancelled agent may take to say what it has left to say. Milliseconds. */
const CANCEL_GRACE = 2_000
/** Between two attempts to store an end that the disk refused. Milliseconds. */
const END_RETRY = 1_000

/** The journal is closed, another owner's, or no longer has the session: there is nothing left to end. */
const NEVER_STORED = ['JOURNAL_CLOSED', 'JOURNAL_CONFLICT', 'SESSION_NOT_FOUND'] as const

/** The parts of its session that a turn works with. */
export interface RunningTurnHost extends VoiceHost {
  readonly ports: SessionPorts
  readonly agents: SessionAgents
  readonly clients: AttachedClients
  readonly roots: readonly string[]
  readonly tools: ToolRegistry
}

export class RunningTurn extends TurnVoice implements Turn {
  readonly roots: readonly string[]
  readonly prompt: readonly Content[]
  readonly promptMeta?: Meta
  readonly resumed?: Resumption
  readonly tools: ToolRegistry
  readonly client: TurnClientServices
  readonly #host: RunningTurnHost
  readonly #abort: AbortSource
  readonly #questions: PermissionPrompts
  /** Where calls stood that an owner before this one began. */
  readonly #pauses: Map<string, ToolInputRequest>
  readonly #pausing: InputRequired
  #calls = 0
  readonly #begun: OpenTurn

  constructor(host: RunningTurnHost, turn: OpenTurn, answered?: AnsweredQuestion) {
    super(host, turn.turnId)
    this.#host = host
    this.#abort = host.ports.clock.abortSource()
    this.roots = host.roots
    this.prompt = turn.prompt
    if (turn.meta !== undefined) this.promptMeta = turn.meta
    this.tools = host.tools
    this.#begun = turn
    this.client = new TurnClientServices(this.#askingHost())
    const { clock, faults } = host.ports
    this.#questions = new PermissionPrompts({
      turnId: turn.turnId,
      clock,
      faults,
      dispatch: (command) => host.log.dispatch(command),
    })
    this.#pauses = new Map(Object.entries(turn.inputRequired).map(([toolCallId, { input }]) => [toolCallId, input]))
    this.#pausing = this.#pausingOf(host)
    const calls = resumedCalls(turn, answered)
    if (calls.length > 0) this.resumed = { calls, ended: turn.endedCalls }
  }

  get settings(): Settings {
    return this.#host.log.existing.settings
  }

  get signal(): Signal {
    return this.#abort.signal
  }

  /** Runs the agent and ends the turn, exactly once. Never throws. */
  async play(): Promise<void> {
    const ending = await this.#agentEnds()
    this.client.close()
    this.fallSilent()
    if (this.#host.log.closed.aborted) return
    await this.#end(ending)
    await this.#host.ports.faults.at('turn.ended')
  }

  cancel(): void {
    // One that is over waits for nobody's patience, which would keep it and its session in memory meanwhile.
    if (!this.isOver) this.#abort.abort()
  }

  /** The entries of this turn can no longer be stored: the agent is stopped where it next says something. */
  break(error: unknown): void {
    this.breakWith(error)
    this.#questions.drop()
    this.#abort.abort(error)
  }

  answered(requestId: string, outcome: PermissionOutcome): void {
    this.#questions.answered(requestId, outcome)
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
    return this.#questions.inLine(() => this.#askNow(question))
  }

  async checkpoint(memo: unknown, kind?: 'reset'): Promise<Cursor> {
    const entries = await this.stored({ kind: 'checkpoint', data: memo, ...(kind === 'reset' && { reset: true }) })
    return entries.at(-1)?.seq ?? fail('TURN_OVER', { turn: this.turnId, session: this.sessionId })
  }

  readCheckpoints(after: Cursor): AsyncIterable<CheckpointEntry> {
    const { log, ports } = this.#host
    return memos(
      { journal: ports.journal, session: this.sessionId, checkpointRange: log.existing.checkpointRange },
      after,
    )
  }

  async assistantTextAfter(place: Cursor): Promise<string> {
    await this.store({ kind: 'flush' })
    return assistantTextAfter(this.#host.ports.journal, this.sessionId, place)
  }

  async interruptedPromptsAfter(place: Cursor): Promise<readonly (readonly Content[])[]> {
    const { log, ports } = this.#host
    return log.existing.turns > 1 ? interruptedPromptsAfter(ports.journal, this.sessionId, place) : []
  }

  async pathAccess(): Promise<PathAccessFilter> {
    const { ports, roots } = this.#host
    return pathAccessFilterForAgent(await ports.rules.rulesFor(roots))
  }

  call(request: ToolRequest): Promise<ToolResult> {
    const { ports } = this.#host
    return callTool(request, {
      turn: this,
      faults: ports.faults,
      standing: () => this.#standing(),
      begin: (toolCallId, more) => this.store({ kind: 'call', toolCallId, patch: { status: 'in_progress', ...more } }),
      inLine: (work) => this.#questions.inLine(work),
      ask: (question, grant) => this.#askNow(question, grant),
      caller: (toolCallId, bars) => this.#callerOf(toolCallId, bars),
      pauseOf: (toolCallId) => this.#pauses.get(toolCallId),
      inputFor: (pause, paused, isKept) => this.#pausing.inputFor(pause, paused, isKept),
    })
  }

  async #askNow(question: Question, grant?: GrantSubject): Promise<PermissionOutcome> {
    this.requireOpen()
    return this.#questions.ask(question, grant)
  }

  /** As it is at this moment; rules that cannot be read are told of, once. */
  async #standing(): Promise<PolicyContext> {
    const { log, ports, roots } = this.#host
    const rules = await ports.rules.rulesFor(roots)
    if (rules.broken !== undefined) await log.dispatch({ kind: 'notice', text: rules.broken })
    return { rules, mode: modeOf(this.settings), grants: log.existing.grants }
  }

  #callerOf(toolCallId: string, bars: PathAccessFilter): OpenToolCallContext {
    // What a tool of our own does with the client is its call, which is told already.
    const quiet = {
      newToolCallId: () => toolCallId,
      report: async () => {},
      store: async () => !this.isOver,
      bars: async () => bars,
    }
    const client = new TurnClientServices(this.#askingHost(quiet))
    return openToolCallContext(toolCallId, { turn: this, journal: this.#host.ports.journal, client, bars })
  }

  #pausingOf({ ports: { faults }, clients }: RunningTurnHost): InputRequired {
    const store = (event: AgentEvent) => this.store(event)
    const askable = (mode: 'form' | 'url') => clients.askable(this.#begun.promptId, mode)
    const whenJoined = (listener: () => void) => clients.whenJoined(listener)
    return new InputRequired({ faults, asking: this.#askingHost(), askable, whenJoined, store })
  }

  #askingHost(quiet?: Partial<AskingHost>): AskingHost {
    const { ports, clients, roots } = this.#host
    const { clock } = ports
    return {
      clock,
      roots,
      lent: () => clients.of(this.#begun.promptId),
      signal: this.signal,
      newId: () => clock.id(),
      newToolCallId: () => this.newToolCallId(),
      report: (toolCallId, patch) => this.report(toolCallId, patch),
      store: (toolCallId, patch) => this.store({ kind: 'call', toolCallId, patch }),
      tell: (event) => this.store(event),
      bars: () => this.pathAccess(),
      ...quiet,
    }
  }

  async #agentEnds(): Promise<{ readonly stopReason: StopReason | 'error'; readonly error?: Failure }> {
    try {
      await this.#host.ports.faults.at('turn.started')
      const stopReason = await Promise.race([this.#play(), this.#outOfPatience()])
      return this.broken === undefined ? { stopReason } : failedWith(this.broken.error)
    } catch (error) {
      if (this.broken !== undefined) return failedWith(this.broken.error)
      return this.signal.aborted ? { stopReason: 'cancelled' } : failedWith(error)
    }
  }

  async #play(): Promise<StopReason> {
    const name = this.#begun.agent
    const { agents } = this.#host
    const agent = await agents.open(name)
    // Its capabilities may have changed since they were stored.
    const stored = agents.offer(name, agent)
    if (stored !== undefined) await stored
    return this.isOver ? 'cancelled' : agent.run(this)
  }

  /** An agent that does not stop when cancelled is no longer listened to. */
  #outOfPatience(): Promise<'cancelled'> {
    const { clock } = this.#host.ports
    return new Promise((resolve) => {
      const wait = () => clock.setTimer(CANCEL_GRACE, () => resolve('cancelled'))
      if (this.signal.aborted) wait()
      else this.signal.addEventListener('abort', wait, { once: true })
    })
  }

  /** An accepted prompt ends once, even if the disk must first have room again. */
  async #end(ending: { readonly stopReason: StopReason | 'error'; readonly error?: Failure }): Promise<void> {
    const { clock, report } = this.#host.ports
    while (!this.#host.log.closed.aborted) {
      try {
        // A turn that lost words has not ended well, whatever its agent thinks.
        const end = this.broken === undefined ? ending : failedWith(this.broken.error)
        await this.#host.log.dispatch({ kind: 'end', turnId: this.turnId, ...end })
        return
      } catch (error) {
        if (NEVER_STORED.some((code) => isParleyError(error, code))) return
        report(error)
        await clock.sleep(END_RETRY)
      }
    }
  }
}

/** The call that was asked about goes first, as it would have. */
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

/** The end of a turn that something else than its agent's own words has ended. */
export function failedWith(error: unknown): { readonly stopReason: 'error'; readonly error: Failure } {
  const known = isParleyError(error)
  return { stopReason: 'error', error: { code: known ? error.code : 'AGENT_FAILED', message: reasonOf(error) } }
}
