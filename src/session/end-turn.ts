/** How a turn comes to its one end: by its agent, by a cancel, or because the server stopped. */
import type { StopReason } from '../ports/agent.ts'
import type { Body, Failure, TurnEnd } from './entries.ts'
import type { Busy } from './state.ts'
import { beginTurn } from './turn-entries.ts'

export interface Ending {
  readonly stopReason: StopReason | 'error'
  readonly error?: Failure
}

/** Closes what is open, ends the turn, and begins the next one of the queue in the same breath. */
export function endTurn(state: Busy, ending: Ending): readonly Body[] {
  // Whoever cancelled sees `cancelled`, whatever the agent made of it.
  const stopReason = state.phase === 'cancelling' ? 'cancelled' : ending.stopReason
  const why = stopReason === 'cancelled' ? 'Cancelled.' : 'The turn ended before this call reported a result.'
  const error = stopReason === 'error' ? ending.error : undefined
  return [...withdrawQuestion(state), ...failOpenCalls(state, why), ended(state, stopReason, error), ...nextOf(state)]
}

/**
 * What is left when no agent runs any more: a turn that only waited for an answer is suspended and goes on when answered;
 * any other is interrupted, and what had begun is never run again by itself.
 */
export function haltTurn(state: Busy): readonly Body[] {
  const { turnId } = state.turn
  const withdrawn = state.queue.map(({ promptId }): Body => ({
    kind: 'prompt_withdrawn',
    promptId,
    reason: 'interrupted',
  }))
  if (state.phase === 'suspended') return withdrawn
  if (state.phase === 'waiting' && !somethingRuns(state)) return [...withdrawn, { kind: 'turn_suspended', turnId }]
  const stopReason = state.phase === 'cancelling' ? 'cancelled' : 'interrupted'
  const calls = failOpenCalls(state, 'Interrupted; it may have run.')
  return [...withdrawn, ...withdrawQuestion(state), ...calls, ended(state, stopReason)]
}

function somethingRuns(state: Busy): boolean {
  return Object.values(state.turn.calls).includes('in_progress')
}

export function withdrawQuestion(state: Busy): readonly Body[] {
  if (state.phase !== 'waiting' && state.phase !== 'suspended') return []
  const { requestId } = state.question
  return [{ kind: 'permission_resolved', requestId, outcome: { outcome: 'cancelled' } }]
}

/** ACP v1 has no status `cancelled`: a call that did not finish has failed. */
function failOpenCalls(state: Busy, why: string): readonly Body[] {
  const content = [{ type: 'content', content: { type: 'text', text: why } }] as const
  return Object.keys(state.turn.calls).map((toolCallId): Body => ({
    kind: 'tool_call_patched',
    toolCallId,
    patch: { status: 'failed', content },
  }))
}

function ended(state: Busy, stopReason: TurnEnd, error?: Failure): Body {
  const { turnId, promptId } = state.turn
  return { kind: 'turn_ended', turnId, promptId, stopReason, ...(error === undefined ? {} : { error }) }
}

function nextOf(state: Busy): readonly Body[] {
  const [next] = state.queue
  return next === undefined ? [] : beginTurn(state.turns + 1, next.promptId, next.content)
}
