/** Computes the state after an entry. Pure and total over every kind of entry. */
import type { AgentMemory } from '../../ports/agent.ts'
import type { CompactionStatus } from '../../ports/values/content.ts'
import type { Grant } from '../../ports/rules.ts'
import { type Body, type Entry, refuseGap } from './entries.ts'
import { withoutPowers } from './imported-entries.ts'
import { grantMadeBy, isSameGrant } from './permission-answer.ts'
import {
  type Busy,
  type EndedPrompt,
  type Existing,
  type Idle,
  type OpenTurn,
  type QueuedPrompt,
  type State,
  isBusy,
  openQuestions,
  withoutQuestions,
} from './state.ts'

/** How many ended prompts are remembered against being sent again: more than one halt can withdraw. */
const ENDED_REMEMBERED = 64

export function evolve(state: State, stored: Entry): Existing {
  if (stored.seq !== state.seq + 1) return refuseGap(state, stored)
  const entry = isImported(state, stored) ? withoutPowers(stored) : stored
  if (entry.kind === 'session_created') return created(state.id, entry)
  if (state.phase === 'absent') return refuseGap(state, entry)
  const seen = reached(state, entry)
  return isBusy(seen) ? inTurn(seen, entry) : outsideTurn(seen, entry)
}

/** A session with a new name is not more recent for that. */
function reached<Now extends Existing>(state: Now, { kind, seq, at }: Pick<Entry, 'kind' | 'seq' | 'at'>): Now {
  return { ...state, seq, updatedAt: kind === 'title' ? state.updatedAt : at }
}

/** The entry is one more part of the message that is open: nothing changes by it but how far the session is. */
export function continuesMessage(state: State, entry: Entry): boolean {
  if (entry.kind !== 'message_chunk' || entry.role === 'user' || entry.origin !== undefined) return false
  return isBusy(state) && state.turn.message?.messageId === entry.messageId
}

/** The state after parts of the open message, of which this is the last. */
export function continued(state: State, last: Entry): State {
  return state.phase === 'absent' ? state : reached(state, last)
}

function isImported(state: State, entry: Entry): boolean {
  if (entry.kind === 'session_created') return entry.imported !== undefined
  return state.phase !== 'absent' && entry.seq <= (state.imported ?? 0)
}

function created(id: string, entry: Entry & { readonly kind: 'session_created' }): Idle {
  const { cwd, additionalDirectories, agent, imported, seq, at } = entry
  const origin = imported === undefined ? {} : { imported }
  return {
    phase: 'idle',
    id,
    seq,
    cwd,
    additionalDirectories,
    agent,
    createdAt: at,
    updatedAt: at,
    ...origin,
    ...FRESH,
  }
}

const FRESH = {
  title: null,
  titleSetByUser: false,
  turns: 0,
  recentPrompts: [],
  grants: [],
  commands: [],
  offeredCommands: [],
  settings: { modes: null, configOptions: [] },
  usage: null,
  notice: null,
  checkpointRange: null,
  agentSession: null,
} as const

function outsideTurn(state: Exclude<Existing, Busy>, entry: Entry): Existing {
  switch (entry.kind) {
    case 'prompt_accepted':
      // The turn that follows in the same batch gives the prompt its number.
      return { ...state, phase: 'working', turn: turnOf(queued(entry), state), queue: [] }
    case 'turn_started':
      return agentTurn(state, entry)
    case 'session_closed':
      return { ...state, phase: 'closed' }
    case 'prompt_withdrawn':
      return { ...state, recentPrompts: remember(state, withdrawn(entry)) }
    case 'session_configured':
      return { ...configured(state, entry), phase: 'idle' }
    case 'forked_from':
      return { ...forked(state, entry), phase: 'idle' }
    default:
      return about(state, entry)
  }
}

function inTurn(state: Busy, entry: Entry): Existing {
  switch (entry.kind) {
    case 'prompt_accepted':
      return { ...state, queue: [...state.queue, queued(entry)] }
    case 'prompt_withdrawn':
      return {
        ...state,
        queue: state.queue.filter((queued) => queued.promptId !== entry.promptId),
        recentPrompts: remember(state, withdrawn(entry)),
      }
    case 'prompt_promoted':
      return { ...state, queue: state.queue.toSorted((one, other) => rank(one, entry) - rank(other, entry)) }
    case 'turn_started':
      return prompted({ ...state, turns: state.turns + 1, turn: { ...state.turn, turnId: entry.turnId } })
    case 'turn_cancel_requested':
      return cancelling(withoutQuestions(state), entry)
    case 'turn_ended':
      return afterTurn(state, entry)
    case 'turn_suspended':
      return suspended(state)
    case 'turn_resumed':
      return { ...withoutQuestions(state), phase: 'working' }
    case 'permission_requested':
      return { ...state, phase: 'waiting', questions: [...openQuestions(state), questionOf(entry)] }
    case 'permission_resolved':
      return answered(state, entry)
    default:
      return said(state, entry)
  }
}

function cancelling(
  state: Exclude<Busy, { readonly questions: unknown }>,
  { by }: Body & { readonly kind: 'turn_cancel_requested' },
): Busy {
  return { ...state, phase: 'cancelling', turn: by === undefined ? state.turn : { ...state.turn, stoppedBy: by } }
}

/** Entries that an agent adds to its turn. */
function said(state: Busy, entry: Entry): Existing {
  switch (entry.kind) {
    case 'message_chunk':
      return withMessage(state, entry)
    case 'tool_call':
      return withCall(state, entry.toolCallId, entry.call.status ?? 'pending')
    case 'tool_call_patched':
      return entry.patch.status === undefined ? state : withCall(state, entry.toolCallId, entry.patch.status)
    case 'tool_input_requested':
      return withRequiredInput(state, entry)
    case 'tool_input_resolved':
      return withoutRequiredInput(state, entry.toolCallId)
    case 'compaction':
      return withCompaction(state, entry.compactionId, entry.patch.status)
    case 'compaction_summary':
      return withCompaction(state, entry.compactionId, 'in_progress')
    default:
      return about(state, entry)
  }
}

/** Facts about the session as a whole, whatever its phase. */
function about(state: Existing, entry: Entry): Existing {
  switch (entry.kind) {
    case 'title':
      return { ...state, title: entry.title, titleSetByUser: entry.by === 'user' }
    case 'commands':
      return withCommands(state, entry)
    case 'modes':
      return { ...state, settings: { ...state.settings, modes: entry.modes } }
    case 'mode':
      return inMode(state, entry.modeId)
    case 'config_options':
      return { ...state, settings: { ...state.settings, configOptions: entry.configOptions } }
    case 'usage':
      return { ...state, usage: entry.usage }
    case 'agent_checkpoint':
      return {
        ...state,
        checkpointRange: {
          first: entry.reset ? entry.seq : (state.checkpointRange?.first ?? entry.seq),
          last: entry.seq,
        },
      }
    case 'agent_session':
      return { ...state, agentSession: remembered(state, entry) }
    case 'notice':
      return { ...state, notice: entry.text }
    case 'permission_revoked':
      return { ...state, grants: state.grants.filter((grant) => !isSameGrant(grant, entry.grant)) }
    case 'session_configured':
      return configured(state, entry)
    case 'forked_from':
      return forked(state, entry)
    default:
      return state
  }
}

function withCommands(state: Existing, { commands, by }: Body & { readonly kind: 'commands' }): Existing {
  return { ...state, commands, ...(by === 'agent' ? {} : { offeredCommands: commands }) }
}

function inMode(state: Existing, currentModeId: string): Existing {
  const { modes } = state.settings
  return modes === null ? state : { ...state, settings: { ...state.settings, modes: { ...modes, currentModeId } } }
}

/** A fork is a new session, so the grants of its source do not apply to it. */
function forked<Now extends Existing>(state: Now, entry: Entry): Now {
  return { ...state, createdAt: entry.at, grants: [], agentSession: null }
}

function configured<Now extends Existing>(state: Now, entry: Body & { readonly kind: 'session_configured' }): Now {
  const { additionalDirectories, agent = state.agent } = entry
  const offeredCommands = agent === state.agent ? state.offeredCommands : null
  return { ...state, additionalDirectories, agent, offeredCommands }
}

function queued(entry: Body & { readonly kind: 'prompt_accepted' }): QueuedPrompt {
  const { promptId, content, additionalDirectories = [], meta, by } = entry
  return { promptId, content, additionalDirectories, ...(meta && { meta }), ...(by && { by }) }
}

function turnOf({ content: prompt, by: _sender, ...queued }: QueuedPrompt, { agent }: Existing): OpenTurn {
  const asked = { ...queued, prompt, agent }
  return {
    turnId: '',
    ...asked,
    message: null,
    messages: 0,
    calls: {},
    inputRequired: {},
    endedCalls: [],
    compactions: {},
  }
}

/** The agent works without a prompt. */
function agentTurn(
  state: Exclude<Existing, Busy>,
  { turnId, promptId }: Entry & { readonly kind: 'turn_started' },
): Existing {
  const turn = turnOf({ promptId, content: [], additionalDirectories: state.additionalDirectories }, state)
  return {
    ...state,
    phase: 'working',
    turns: state.turns + 1,
    turn: { ...turn, turnId, by: 'agent' },
    queue: [],
  }
}

/** A turn of another agent is not in the conversation that this one keeps. */
function prompted(state: Busy): Busy {
  const { agentSession, turn } = state
  if (agentSession === null || agentSession.agent === turn.agent) return state
  return { ...state, agentSession: { ...agentSession, standing: 'outdated' } }
}

/** One that was reopened stands as it stood. */
function remembered(
  { agentSession }: Existing,
  { seq: _seq, at: _at, kind: _kind, ...record }: AgentSessionEntry,
): AgentMemory {
  const isReopened = agentSession?.agentSessionId === record.agentSessionId && agentSession.agent === record.agent
  if (!isReopened) return { ...record, standing: 'unprompted' }
  const { standing, endedAt } = agentSession
  return { ...record, standing, ...(endedAt !== undefined && { endedAt }) }
}

type AgentSessionEntry = Entry & { readonly kind: 'agent_session' }

const CLEAN_ENDS: ReadonlySet<string> = new Set(['end_turn', 'max_tokens', 'max_steps', 'refusal'])

function afterPrompt({ agentSession, turn, updatedAt }: Busy, stopReason: string): AgentMemory | null {
  if (agentSession === null || agentSession.agent !== turn.agent || turn.by === 'agent') return agentSession
  return { ...agentSession, standing: CLEAN_ENDS.has(stopReason) ? 'clean' : 'cut', endedAt: updatedAt }
}

function withMessage(state: Busy, entry: Entry & { readonly kind: 'message_chunk' }): Busy {
  const { messageId } = entry
  if (entry.origin === 'outside') return { ...state, turn: { ...state.turn, message: null } }
  if (entry.role === 'user' || state.turn.message?.messageId === messageId) return state
  const own = entry.agentMessageId === undefined ? {} : { agentMessageId: entry.agentMessageId }
  const message = { messageId, role: entry.role, ...own }
  return { ...state, turn: { ...state.turn, message, messages: state.turn.messages + 1 } }
}

/** A tool call also ends the message before it; text after it begins a new one. */
function withCall(state: Busy, toolCallId: string, status: OpenTurn['calls'][string]): Busy {
  const { turn } = state
  const isOpen = status === 'pending' || status === 'in_progress'
  const calls = isOpen ? { ...turn.calls, [toolCallId]: status } : without(turn.calls, toolCallId)
  const inputRequired = isOpen ? turn.inputRequired : without(turn.inputRequired, toolCallId)
  const isNewlyEnded = !isOpen && !turn.endedCalls.includes(toolCallId)
  const endedCalls = isNewlyEnded ? [...turn.endedCalls, toolCallId] : turn.endedCalls
  return { ...state, turn: { ...turn, message: null, calls, inputRequired, endedCalls } }
}

/** One that came in a file says only that it was paused. */
function withRequiredInput(
  state: Busy,
  { toolCallId, input, resume }: Body & { readonly kind: 'tool_input_requested' },
): Busy {
  if (input === null) return state
  return {
    ...state,
    turn: { ...state.turn, inputRequired: { ...state.turn.inputRequired, [toolCallId]: { input, resume } } },
  }
}

function withoutRequiredInput(state: Busy, toolCallId: string): Busy {
  const { inputRequired, calls } = state.turn
  if (!Object.hasOwn(inputRequired, toolCallId)) return state
  const turn = {
    ...state.turn,
    inputRequired: without(inputRequired, toolCallId),
    calls: { ...calls, [toolCallId]: 'in_progress' },
  }
  return { ...state, turn } as Busy
}

function without<Value>(values: Readonly<Record<string, Value>>, key: string): Readonly<Record<string, Value>> {
  const { [key]: _left, ...others } = values
  return others
}

function suspended(state: Busy): Busy {
  if (state.phase === 'waiting') return { ...state, phase: 'suspended' }
  const isPaused = state.phase === 'working' && Object.keys(state.turn.inputRequired).length > 0
  return isPaused ? { ...state, phase: 'suspended', questions: [] } : state
}

/** A compaction has its place in the conversation, so text after it begins a new message. */
function withCompaction(state: Busy, compactionId: string, status: CompactionStatus): Busy {
  const compactions = { ...state.turn.compactions, [compactionId]: status }
  return { ...state, turn: { ...state.turn, message: null, compactions } }
}

function questionOf(entry: Body & { readonly kind: 'permission_requested' }) {
  const { requestId, toolCallId, call, options, grant, resume, survives } = entry
  const lives = survives === undefined ? {} : { survives }
  return { requestId, toolCallId, call, options, resume, ...(grant && { grant }), ...lives }
}

function answered(state: Busy, entry: Entry & { readonly kind: 'permission_resolved' }): Busy {
  const question = openQuestions(state).find(({ requestId }) => requestId === entry.requestId)
  if (question === undefined) return state
  const kept = isImported(state, entry) ? undefined : grantMadeBy(question, entry.outcome)
  const questions = openQuestions(state).filter((open) => open !== question)
  const grants = withGrant(state, kept)
  // The agent of a suspended turn asked one question at a time.
  if (state.phase === 'waiting' && questions.length > 0) return { ...state, questions, grants }
  return { ...withoutQuestions(state), phase: 'working', grants }
}

/** Two calls of one tool may both have asked before the first "always". */
function withGrant({ grants }: Busy, grant: Grant | undefined): readonly Grant[] {
  return grant === undefined || grants.some((held) => isSameGrant(held, grant)) ? grants : [...grants, grant]
}

function rank({ promptId }: QueuedPrompt, promoted: { readonly promptId: string }): number {
  return promptId === promoted.promptId ? 0 : 1
}

/** The next prompt of the queue begins at once; its `turn_started` is the next entry. */
function afterTurn(state: Busy, entry: Entry & { readonly kind: 'turn_ended' }): Existing {
  const { turn: _over, queue, ...left } = withoutQuestions(state)
  const { promptId, stopReason, error } = entry
  const lastEnd = { stopReason, seq: entry.seq, at: entry.at }
  const rest = { ...left, lastEnd, agentSession: afterPrompt(state, stopReason) }
  const recentPrompts = remember(state, { promptId, stopReason, ...(error === undefined ? {} : { error }) })
  const [next, ...waiting] = queue
  if (next === undefined) return { ...rest, recentPrompts, phase: 'idle' }
  return { ...rest, recentPrompts, phase: 'working', turn: turnOf(next, state), queue: waiting }
}

/** A client that asks later gets the same end as one that was sent it at once. */
export function withdrawn(entry: Body & { readonly kind: 'prompt_withdrawn' }): EndedPrompt {
  return { promptId: entry.promptId, stopReason: entry.reason === 'interrupted' ? 'interrupted' : 'withdrawn' }
}

function remember(state: Existing, prompt: Existing['recentPrompts'][number]): Existing['recentPrompts'] {
  return [...state.recentPrompts, prompt].slice(-ENDED_REMEMBERED)
}
