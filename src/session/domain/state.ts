/** The state of a session, a union of its phases. It holds what is open, never the transcript. */
import type {
  CompactionStatus,
  Content,
  Meta,
  PermissionOption,
  SlashCommand,
  ToolCallPatch,
  ToolStatus,
  Usage,
} from '../../ports/values/content.ts'
import type { SessionPhase, SessionStanding, SessionSummary } from '../../ports/journal.ts'
import type { AgentMemory } from '../../ports/agent.ts'
import type { Settings } from '../../ports/values/settings.ts'
import type { Grant, GrantSubject } from '../../ports/rules.ts'
import type { ToolInputRequest } from '../../ports/tools.ts'
import type { Body, Failure, TurnEnd } from './entries.ts'

export type State = Absent | Idle | Closed | Working | Cancelling | Waiting | Suspended

/** Every phase after creation. */
export type Existing = Exclude<State, Absent>

/** A turn is open: it runs, waits for an answer, or is on its way out. */
export type Busy = Working | Cancelling | Waiting | Suspended

export interface Absent {
  readonly phase: 'absent'
  readonly id: string
  readonly seq: 0
}

interface Base {
  readonly id: string
  readonly seq: number
  readonly cwd: string
  readonly additionalDirectories: readonly string[]
  /** The full name of the agent of the next turn. */
  readonly agent: string
  readonly title: string | null
  /** A title that a user gave is not changed by an agent. */
  readonly titleSetByUser: boolean
  readonly createdAt: number
  readonly updatedAt: number
  /** The entries up to here came from a file. */
  readonly imported?: number
  /** How many turns were started; the next one's number is one more. */
  readonly turns: number
  /** The latest prompts that ended and how, so that one sent again is not run again. */
  readonly recentPrompts: readonly EndedPrompt[]
  /** Absent before the first end of a turn. */
  readonly lastEnd?: NonNullable<SessionStanding['lastEnd']>
  /** The calls that the user has always or never allowed in this session. */
  readonly grants: readonly Grant[]
  readonly commands: readonly SlashCommand[]
  /** The commands that the agent last offered between turns; null after a change of the agent. */
  readonly offeredCommands: readonly SlashCommand[] | null
  readonly settings: Settings
  /** Null until the agent reports it. */
  readonly usage: Usage | null
  /** The server's last notice. */
  readonly notice: string | null
  /** Where what its agents keep begins and ends; null while they keep nothing. */
  readonly checkpointRange: { readonly first: number; readonly last: number } | null
  /** Under which id an agent in another process knows the session; null if none does. */
  readonly agentSession: AgentMemory | null
}

export interface Idle extends Base {
  readonly phase: 'idle'
}

export interface Closed extends Base {
  readonly phase: 'closed'
}

interface InTurn extends Base {
  readonly turn: OpenTurn
  readonly queue: readonly QueuedPrompt[]
}

export interface Working extends InTurn {
  readonly phase: 'working'
}

/** A cancel was asked for; the agent may still say what it has left to say. */
export interface Cancelling extends InTurn {
  readonly phase: 'cancelling'
}

/** The agent has asked for permissions, at least for one, and waits for the answers. */
export interface Waiting extends InTurn {
  readonly phase: 'waiting'
  /** In the order in which they were asked. */
  readonly questions: readonly OpenQuestion[]
}

/** No agent runs: the server stopped while the turn waited. Without a question it is its paused calls that wait. */
export interface Suspended extends InTurn {
  readonly phase: 'suspended'
  readonly questions: readonly OpenQuestion[]
}

export interface OpenTurn {
  readonly turnId: string
  /** Made up if the agent began the turn by itself. */
  readonly promptId: string
  readonly by?: 'agent'
  /** The client that has cancelled it. */
  readonly stoppedBy?: string
  readonly prompt: readonly Content[]
  /** The `_meta` that the sender attached to the prompt; absent when there is none. */
  readonly meta?: Meta
  /** The directories that the sender declared besides the cwd. */
  readonly additionalDirectories: readonly string[]
  /** The agent that began the turn. It also continues it after a restart. */
  readonly agent: string
  /** The message that the next chunk of the same role belongs to. */
  readonly message: OpenMessage | null
  /** How many messages the turn has had; numbers the next one. */
  readonly messages: number
  /** The tool calls that are open and how far they are. */
  readonly calls: Readonly<Record<string, ToolStatus>>
  /** The open calls whose MCP servers want input before they continue. */
  readonly inputRequired: Readonly<Record<string, RequiredInput>>
  /** The ids of those that are not, which a long turn has many of. */
  readonly endedCalls: readonly string[]
  /** The compactions of its agent's context and how far they are. */
  readonly compactions: Readonly<Record<string, CompactionStatus>>
}

export interface OpenMessage {
  readonly messageId: string
  readonly role: 'agent' | 'thought'
  /** The agent's own id. */
  readonly agentMessageId?: string
}

export interface OpenQuestion {
  readonly requestId: string
  readonly toolCallId: string
  readonly call: ToolCallPatch
  readonly options: readonly PermissionOption[]
  readonly grant?: GrantSubject
  readonly resume: unknown
  /** The question ends with the process that asked it. */
  readonly survives?: false
}

export interface RequiredInput {
  readonly input: ToolInputRequest
  readonly resume: unknown
}

export interface QueuedPrompt {
  readonly promptId: string
  /** The name of the client that sent it. */
  readonly by?: string
  readonly content: readonly Content[]
  readonly additionalDirectories: readonly string[]
  readonly meta?: Meta
}

export interface EndedPrompt {
  readonly promptId: string
  readonly stopReason: TurnEnd | 'withdrawn'
  readonly error?: Failure
}

export function absent(id: string): Absent {
  return { phase: 'absent', id, seq: 0 }
}

export function isBusy(state: State): state is Busy {
  return state.phase !== 'absent' && state.phase !== 'idle' && state.phase !== 'closed'
}

/** The session has this agent, or its open turn has. */
export function hasAgent(state: Existing, agent: string): boolean {
  return state.agent === agent || (isBusy(state) && state.turn.agent === agent)
}

/** The turn does nothing but wait, and can wait without its agent: for a permission, or for input to its calls. */
export function isOnlyWaiting(state: Busy): boolean {
  const { phase, turn } = state
  const { calls, inputRequired } = turn
  if (openQuestions(state).some(({ survives }) => survives === false)) return false
  const runs = Object.keys(calls).some((id) => calls[id] === 'in_progress' && !Object.hasOwn(inputRequired, id))
  return !runs && (phase === 'waiting' || (phase === 'working' && Object.keys(inputRequired).length > 0))
}

/** True when unloading the session would interrupt no work: nothing runs, or the open turn waits for an answer and is suspended. */
export function mayUnload(state: State): boolean {
  return !isBusy(state) || state.phase === 'suspended' || isOnlyWaiting(state)
}

/** The agent works, or is being cancelled: the session cannot be unloaded without interrupting it. */
export function isAtWork(state: State): boolean {
  return state.phase === 'cancelling' || (state.phase === 'working' && !isOnlyWaiting(state))
}

/** A turn runs it, or it waits for one. */
export function isOpenPrompt(promptId: string, state: State): boolean {
  return isBusy(state) && [state.turn, ...state.queue].some((prompt) => prompt.promptId === promptId)
}

/** The permission questions without an answer yet. */
export function openQuestions(state: State): readonly OpenQuestion[] {
  return state.phase === 'waiting' || state.phase === 'suspended' ? state.questions : []
}

/** The turn without its open questions, as it is when they were answered or withdrawn. */
export function withoutQuestions(state: Busy): Exclude<Busy, { readonly questions: unknown }> {
  if (state.phase !== 'waiting' && state.phase !== 'suspended') return state
  const { questions: _answeredOrWithdrawn, ...rest } = state
  return { ...rest, phase: 'working' }
}

export function isKnownCall({ calls, endedCalls }: OpenTurn, toolCallId: string): boolean {
  return Object.hasOwn(calls, toolCallId) || endedCalls.includes(toolCallId)
}

/** An agent's report of one of its tool calls. */
export interface ToolCallReport {
  readonly toolCallId: string
  readonly patch: ToolCallPatch
}

/** The entry of a report: the first of an id introduces the call, later ones change it. */
export function toolCallEntry({ toolCallId, patch }: ToolCallReport, { turn }: Busy): Body {
  if (isKnownCall(turn, toolCallId)) return { kind: 'tool_call_patched', toolCallId, patch }
  return { kind: 'tool_call', toolCallId, call: { ...patch, title: patch.title ?? patch.name ?? toolCallId } }
}

/** The row that lists show for this state. */
export function rowOf(state: Existing): SessionSummary {
  const { id, cwd, additionalDirectories, title, seq, createdAt, updatedAt } = state
  const agent = agentKind(state.agent)
  const row = { id, cwd, additionalDirectories, agent, title, phase: rowPhase(state), lastSeq: seq }
  const standing = standingOf(state)
  return { ...row, createdAt, updatedAt, ...(standing && { standing }) }
}

function standingOf(state: Existing): SessionStanding | undefined {
  const { lastEnd } = state
  const [question, ...more] = openQuestions(state)
  if (lastEnd === undefined && question === undefined) return undefined
  if (question === undefined) return { ...(lastEnd && { lastEnd }) }
  const { requestId, toolCallId, call, options } = question
  const title = call.title ?? call.name ?? toolCallId
  const waiting = { requestId, toolCallId, title, options, count: more.length + 1 }
  return { ...(lastEnd && { lastEnd }), waiting }
}

/** Its full name; of a script without its file, and of a model without its name, because both may say much about the user. */
function agentKind(agent: string): string {
  return agent.replace(/^(?:asked-)?(script|model):.*$/su, '$1')
}

function rowPhase(state: Existing): SessionPhase {
  if (state.phase === 'working' && isOnlyWaiting(state)) return 'waiting'
  return state.phase === 'cancelling' ? 'working' : state.phase
}

/** The form in which a state is kept beside the journal; it names its format so that an older shortcut is not misread. */
export function encodeState(state: Existing): string {
  return JSON.stringify({ format: STATE_FORMAT, state })
}

/** The state of a snapshot, or undefined when it was written in another format; it is then rebuilt from the journal. */
export function decodeState(text: string): Existing | undefined {
  const stored = JSON.parse(text) as { readonly format: number; readonly state: Existing }
  return stored.format === STATE_FORMAT ? stored.state : undefined
}

const STATE_FORMAT = 2
