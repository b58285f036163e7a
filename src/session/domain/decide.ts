/** Decides which entries a command adds to the journal, given the state. Pure: no clock, no I/O, no randomness. */
import { fail } from '../../errors/parley-error.ts'
import type { AgentUpdate } from '../../ports/agent.ts'
import type { PermissionOutcome } from '../../ports/values/content.ts'
import type { AgentEvent, Command } from './commands.ts'
import { ENTRY_FORMAT, type Body, type Entry, encodeBody } from './entries.ts'
import { abortCopiedTurn, endTurn, interruptTurn } from './finish-turn.ts'
import { askPermission, resolvePermission, revoke } from './permission-answer.ts'
import {
  type Busy,
  type Existing,
  type OpenQuestion,
  type OpenTurn,
  type State,
  hasAgent,
  isBusy,
  openQuestions,
  toolCallEntry,
} from './state.ts'
import { offerSettings, setConfigOption, setMode } from './merge-settings.ts'
import type { StoredEntry } from '../../ports/journal.ts'
import { continued, continuesMessage, evolve } from './evolve.ts'
import { cancel, isQueued, promote, acceptPrompt, rejectUnknownPrompts, withdrawPrompt } from './prompt-queue.ts'
import { forkTitle } from './title.ts'

type Of<Kind extends Command['kind']> = Command & { readonly kind: Kind }

/**
 * Throws SESSION_NOT_FOUND, SESSION_CLOSED, QUEUE_FULL or PERMISSION_UNKNOWN. An empty result means that nothing has to
 * change.
 */
export function decide(command: Command, state: State): readonly Body[] {
  if (command.kind === 'create') return create(command, state)
  if (state.phase === 'absent') return fail('SESSION_NOT_FOUND', { session: state.id })
  switch (command.kind) {
    case 'configure':
      return configure(command, state)
    case 'prompt':
      return acceptPrompt(command, state)
    case 'cancel':
      return isBusy(state) ? cancel(command, state) : []
    case 'withdraw':
      return isBusy(state) ? withdrawPrompt(command, state) : []
    case 'withdraw_waiting':
      return isBusy(state) && isQueued(command, state) ? withdrawPrompt(command, state) : []
    case 'promote':
      return isBusy(state) && isQueued(command, state) ? promote(command, state) : []
    case 'reject_unknown_prompts':
      return rejectUnknownPrompts(command, state)
    case 'notice':
      return command.text === state.notice && command.again === undefined
        ? []
        : [{ kind: 'notice', text: command.text }]
    case 'answer':
      return resolvePermission(command, state)
    case 'resume_paused':
      return resumePaused(state)
    case 'revoke':
      return revoke(command, state)
    case 'rename':
      return titleEntries(command.title, state)
    case 'fork':
      return fork(command, state)
    case 'close':
      return close(state)
    case 'set_agent_capabilities':
      return setAgentCapabilities(command, state)
    case 'refresh_commands':
      return refresh(command, state)
    case 'agent_update':
      return agentUpdate(command, state)
    case 'remember_agent_session':
      return hasAgent(state, command.record.agent) ? [{ kind: 'agent_session', ...command.record }] : []
    case 'begin_agent_turn':
      return beginAgentTurn(command, state)
    case 'set_mode':
      return set(state, () => setMode(command.modeId, state.settings))
    case 'set_config_option':
      return set(state, () => setConfigOption(command.configId, command.value, state.settings))
    case 'halt':
      return isBusy(state) ? interruptTurn(state) : []
    default:
      return fromTurn(command, state)
  }
}

/** Events of a turn that has ended or is suspended are dropped: nothing may follow the end. */
function fromTurn(command: Of<'agent' | 'ask' | 'end'>, state: State): readonly Body[] {
  if (!isBusy(state) || state.phase === 'suspended' || state.turn.turnId !== command.turnId) return []
  switch (command.kind) {
    case 'agent':
      return agentSaid(command.event, state)
    case 'ask':
      return askPermission(command, state)
    case 'end':
      return endTurn(state, command)
  }
}

/** A question that is open is answered first. */
function resumePaused(state: Existing): readonly Body[] {
  const waits = state.phase === 'suspended' && state.questions.length === 0
  return waits ? [{ kind: 'turn_resumed', turnId: state.turn.turnId }] : []
}

function create(command: Of<'create'>, state: State): readonly Body[] {
  if (state.phase !== 'absent') return []
  const { cwd, additionalDirectories, agent } = command
  return [{ kind: 'session_created', format: ENTRY_FORMAT, cwd, additionalDirectories, agent }]
}

function configure(command: Of<'configure'>, state: Existing): readonly Body[] {
  const { additionalDirectories, agent = state.agent } = command
  const isNewAgent = agent !== state.agent
  const isSame = !isNewAgent && sameJson(additionalDirectories, state.additionalDirectories)
  if (isSame && state.phase !== 'closed') return []
  return [{ kind: 'session_configured', additionalDirectories, ...(isNewAgent ? { agent } : {}) }]
}

/** Closing cancels what runs and what waits; the session itself closes once nothing is open. */
function close(state: Existing): readonly Body[] {
  if (state.phase === 'closed') return []
  return isBusy(state)
    ? cancel({ kind: 'cancel', queued: state.queue.map((q) => q.promptId) }, state)
    : [{ kind: 'session_closed' }]
}

function agentSaid(event: AgentEvent, state: Busy): readonly Body[] {
  switch (event.kind) {
    case 'chunk':
      return [chunk(event, state)]
    case 'chunks':
      return event.texts.map((text) => chunk({ role: event.role, content: { type: 'text', text } }, state))
    case 'outside_chunk':
      return [outsideChunk(event, state)]
    case 'call':
      return [toolCallEntry(event, state)]
    case 'plan':
      return [{ kind: 'plan', entries: event.entries }]
    case 'checkpoint':
      return [{ kind: 'agent_checkpoint', data: event.data, ...(event.reset && { reset: true }) }]
    case 'compaction':
    case 'compaction_summary':
      return compacting(event, state)
    case 'elicitation':
      return [{ ...event, kind: 'elicitation_requested' }]
    case 'elicited':
      return [{ ...event, kind: 'elicitation_resolved' }]
    case 'tool_input_requested':
    case 'tool_input_resolved':
      return requiringInput(event, state)
    case 'flush':
      return []
    default:
      return aboutSession(event, state)
  }
}

/** Handles updates that an agent may send at any time, with the same effect in a turn as outside of one. */
function aboutSession(
  update: Exclude<AgentUpdate, { readonly kind: 'chunk' | 'call' }>,
  state: Existing,
): readonly Body[] {
  switch (update.kind) {
    case 'title':
      return state.titleSetByUser ? [] : titled(update.title, state)
    case 'usage':
      return sameJson(update.usage, state.usage) ? [] : [update]
    case 'commands':
      return sameJson(update.commands, state.commands) ? [] : [{ ...update, by: 'agent' }]
    case 'mode':
      return setMode(update.modeId, state.settings)
    case 'config_option':
      return setConfigOption(update.configId, update.value, state.settings)
    case 'foreign':
      return [update]
  }
}

/**
 * While a turn runs, the update is part of that turn. Words that come later are one more message of the last turn. Those of an
 * earlier turn would be read as an answer to the prompt after it.
 */
function agentUpdate({ agent, update, turnId }: Of<'agent_update'>, state: Existing): readonly Body[] {
  const isOfEarlier = turnId !== undefined && turnId !== `t${state.turns}`
  if (agent !== state.agent || state.phase === 'closed' || isOfEarlier) return []
  if (isBusy(state) && state.phase !== 'suspended') return agentSaid(update, state)
  if (update.kind === 'call') return [{ ...update, kind: 'tool_call_patched' }]
  if (update.kind !== 'chunk') return aboutSession(update, state)
  // A suspended turn has no agent that speaks; its next words come when it is resumed.
  if (state.phase === 'suspended') return []
  const { role, content } = update
  const suffix = role === 'agent' ? 'late' : 'late-thought'
  return [{ kind: 'message_chunk', role, messageId: `t${state.turns}-${suffix}`, content }]
}

type InputEvent = AgentEvent & { readonly kind: 'tool_input_requested' | 'tool_input_resolved' }

/** While the turn is being cancelled no call starts to wait for input or continues; a call that does not run cannot either. */
function requiringInput(event: InputEvent, state: Busy): readonly Body[] {
  const { toolCallId } = event
  const { calls, inputRequired } = state.turn
  if (state.phase === 'cancelling') return []
  if (event.kind === 'tool_input_requested')
    return calls[toolCallId] === 'in_progress' ? [{ ...event, kind: 'tool_input_requested' }] : []
  return Object.hasOwn(inputRequired, toolCallId) ? [{ ...event, kind: 'tool_input_resolved' }] : []
}

type Compacting = AgentEvent & { readonly kind: 'compaction' | 'compaction_summary' }

/** A compaction ends once; later updates of it are ignored. */
function compacting(event: Compacting, { turn }: Busy): readonly Body[] {
  const { compactionId } = event
  const isOver = Object.hasOwn(turn.compactions, compactionId) && turn.compactions[compactionId] !== 'in_progress'
  return isOver ? [] : [event]
}

function titled(title: string, state: Existing): readonly Body[] {
  return title === state.title ? [] : [{ kind: 'title', title }]
}

/** A title that a user gives is stored even when it is the present one: from then on no agent changes it. */
function titleEntries(title: string, state: Existing): readonly Body[] {
  return title === state.title && state.titleSetByUser ? [] : [{ kind: 'title', title, by: 'user' }]
}

/** Commands that the agent changed in a turn hold until it offers others to all its sessions. */
function setAgentCapabilities(
  { agent, commands, settings, isCurrent }: Of<'set_agent_capabilities'>,
  state: Existing,
): readonly Body[] {
  if (agent !== state.agent) return []
  const isNew = !sameJson(commands, state.offeredCommands)
  return [
    ...(isNew ? [{ kind: 'commands', commands } as const] : []),
    ...offerSettings(settings, state.settings, isCurrent),
  ]
}

/** The agent's own updates have the same effect between turns as in one. */
function refresh({ agent, commands }: Of<'refresh_commands'>, state: Existing): readonly Body[] {
  if (agent !== state.agent || state.phase === 'closed' || sameJson(commands, state.commands)) return []
  return [{ kind: 'commands', commands, by: 'agent' }]
}

function set(state: Existing, change: () => readonly Body[]): readonly Body[] {
  return state.phase === 'closed' ? fail('SESSION_CLOSED', { session: state.id }) : change()
}

/** No agent works in the copy on what was open at its last entry. */
function fork({ session }: Of<'fork'>, state: Existing): readonly Body[] {
  return [
    { kind: 'forked_from', from: { session, seq: state.seq } },
    ...(isBusy(state) ? abortCopiedTurn(state) : []),
    ...(state.title === null ? [] : forkTitled(state, state.title)),
  ]
}

function forkTitled(state: Existing, source: string): readonly Body[] {
  const title = forkTitle(source)
  return state.titleSetByUser ? titleEntries(title, state) : titled(title, state)
}

type ChunkEvent = AgentEvent & { readonly kind: 'chunk' }

/** Chunks of one role in a row are one message; anything between them begins another, and so does another id of the agent. */
function chunk({ role, content, messageId: own }: Omit<ChunkEvent, 'kind'>, { turn }: Busy): Body {
  const { message } = turn
  const isSame = message?.role === role && (own === undefined || own === message.agentMessageId)
  if (isSame) return { kind: 'message_chunk', role, messageId: message.messageId, content }
  const messageId = `${turn.turnId}-m${turn.messages + 1}`
  return { kind: 'message_chunk', role, messageId, content, ...(own !== undefined && { agentMessageId: own }) }
}

function outsideChunk(event: AgentEvent & { readonly kind: 'outside_chunk' }, { turn }: Busy): Body {
  const { role, message, content } = event
  const messageId = `${turn.turnId}-outside${message}`
  const said = { kind: 'message_chunk', messageId, content, origin: 'outside' } as const
  return role === 'user' ? { ...said, role, promptId: messageId } : { ...said, role }
}

/** The id of its prompt is made up, since there is none. */
function beginAgentTurn({ agent }: Of<'begin_agent_turn'>, state: Existing): readonly Body[] {
  if (agent !== state.agent || isBusy(state) || state.phase === 'closed') return []
  const turnId = `t${state.turns + 1}`
  return [{ kind: 'turn_started', turnId, promptId: `${turnId}-agent`, by: 'agent' }]
}

function sameJson(left: unknown, right: unknown): boolean {
  return JSON.stringify(left) === JSON.stringify(right)
}

export interface Batch {
  readonly state: State
  readonly entries: readonly Entry[]
  readonly stored: readonly StoredEntry[]
  /** One per command, in order. */
  readonly outcomes: readonly CommandOutcome[]
  /** Carried out once the batch is stored. */
  readonly effects: readonly Effect[]
}

/** The entries of a command, or why it was refused; a refusal harms no other command of the batch. */
export type CommandOutcome = { readonly entries: readonly Entry[] } | { readonly refused: unknown }

export type Effect =
  | { readonly kind: 'run'; readonly turn: OpenTurn; readonly answered?: AnsweredQuestion }
  | { readonly kind: 'cancel' }
  | { readonly kind: 'answer'; readonly answered: AnsweredQuestion }

export interface AnsweredQuestion {
  readonly question: OpenQuestion
  readonly outcome: PermissionOutcome
}

/** Decides the pending commands on a copy of the state, as one batch for the journal. */
export function decideBatch(commands: readonly Command[], before: State, at: number): Batch {
  const builder = new BatchBuilder(before, at)
  const outcomes = commands.map((command) => builder.add(command))
  return { ...builder.result(), outcomes }
}

const OVER: ReadonlySet<Entry['kind']> = new Set(['turn_ended', 'turn_suspended'])

class BatchBuilder {
  readonly #at: number
  #state: State
  /** The last of the parts of a message that came since `#state`: most entries are one, and it would be copied for each. */
  #continuedBy: Entry | undefined
  #answered: AnsweredQuestion | undefined
  readonly #entries: Entry[] = []
  readonly #stored: StoredEntry[] = []
  #effects: Effect[] = []

  constructor(state: State, at: number) {
    this.#state = state
    this.#at = at
  }

  add(command: Command): CommandOutcome {
    const from = this.#entries.length
    try {
      const before = this.#reach()
      const bodies = decide(command, before)
      // All of them first: a command whose facts cannot all be stored leaves none.
      const stored = bodies.map(encodeBody)
      const at = this.#at
      bodies.forEach((body, index) => {
        const seq = before.seq + index + 1
        this.#stored.push({ seq, at, body: stored[index] ?? '' })
        // The place comes first: to add fields to a copy takes V8 nine times as long, and seven times the memory.
        this.#apply({ seq, at, ...body })
      })
    } catch (refused) {
      return { refused }
    }
    return { entries: this.#entries.slice(from) }
  }

  result(): Omit<Batch, 'outcomes'> {
    return { state: this.#reach(), entries: this.#entries, stored: this.#stored, effects: this.#effects }
  }

  /** The state after all entries so far. */
  #reach(): State {
    const last = this.#continuedBy
    if (last !== undefined) this.#state = continued(this.#state, last)
    this.#continuedBy = undefined
    return this.#state
  }

  #apply(entry: Entry): void {
    this.#entries.push(entry)
    if (continuesMessage(this.#state, entry)) {
      this.#continuedBy = entry
      return
    }
    const before = this.#reach()
    const after = evolve(before, entry)
    this.#state = after
    // A turn that began and was halted in the same batch never gets an agent.
    if (OVER.has(entry.kind)) {
      this.#effects = this.#effects.filter(({ kind }) => kind !== 'run')
      this.#answered = undefined
    }
    if (!isBusy(after)) return
    switch (entry.kind) {
      case 'turn_started':
        this.#effects.push({ kind: 'run', turn: after.turn })
        return
      case 'turn_resumed':
        this.#effects.push({ kind: 'run', turn: after.turn, ...(this.#answered && { answered: this.#answered }) })
        this.#answered = undefined
        return
      case 'turn_cancel_requested':
        this.#effects.push({ kind: 'cancel' })
        return
      case 'permission_resolved':
        this.#answer(before, entry)
        return
      default:
    }
  }

  #answer(before: State, entry: Entry & { readonly kind: 'permission_resolved' }): void {
    const question = openQuestions(before).find(({ requestId }) => requestId === entry.requestId)
    if (question === undefined) return
    const answered = { question, outcome: entry.outcome }
    if (before.phase === 'waiting') this.#effects.push({ kind: 'answer', answered })
    else this.#answered = answered
  }
}

/**
 * Whether the running turn cannot go on when this command could not be stored: its own words are lost, or its cancel or an answer. A
 * suspended one goes on waiting for its answer.
 */
export function concernsTurn(command: Command, state: State): boolean {
  switch (command.kind) {
    case 'agent':
    case 'ask':
    case 'end':
    case 'cancel':
    case 'close':
    case 'halt':
      return true
    case 'answer':
      return state.phase !== 'suspended'
    case 'withdraw':
      return isBusy(state) && state.turn.promptId === command.promptId
    default:
      return false
  }
}
