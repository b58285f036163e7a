/** How a turn comes to its one end: by its agent, by a cancel, or because the server stopped. */
import type { StopReason } from '../../ports/agent.ts'
import type { ToolStatus } from '../../ports/values/content.ts'
import { type Body, type Failure, type TurnEnd, beginTurn } from './entries.ts'
import { type Busy, isOnlyWaiting, openQuestions } from './state.ts'

export interface TurnEnding {
  readonly stopReason: StopReason | 'error'
  readonly error?: Failure
  /** The client that has stopped it, where the state does not know it yet. */
  readonly by?: string
}

/** Closes what is open, ends the turn, and begins the next prompt of the queue in the same batch. */
export function endTurn(state: Busy, ending: TurnEnding): readonly Body[] {
  // A cancelled turn ends as `cancelled`, whatever stop reason the agent gives.
  const stopReason = state.phase === 'cancelling' ? 'cancelled' : ending.stopReason
  const why = stopReason === 'cancelled' ? 'Cancelled' : 'The turn ended before this call reported a result'
  const sentence = (status: ToolStatus, isPaused: boolean) => {
    if (isPaused) return `${why}; it waited for input, and what it did before that stays done.`
    return status === 'in_progress' ? `${why}; it may have run.` : `${why}.`
  }
  const error = stopReason === 'error' ? ending.error : undefined
  const compactions = endCompactions(state, stopReason === 'cancelled' ? 'cancelled' : 'failed')
  const calls = endOpenCalls(state, stopReason === 'cancelled' ? 'cancelled' : 'failed', sentence)
  const open = [...withdrawQuestions(state), ...calls, ...compactions]
  return [...open, ended(state, stopReason, { error, by: ending.by }), ...nextOf(state)]
}

/**
 * Used when no agent runs any more. A turn that only waited for answers is suspended; it continues when it is answered,
 * and the prompts queued behind it run after it. Any other turn is interrupted and its queue withdrawn, because work that
 * had begun must not run again without a request.
 */
export function interruptTurn(state: Busy): readonly Body[] {
  if (state.phase === 'suspended') return []
  return isOnlyWaiting(state) ? [{ kind: 'turn_suspended', turnId: state.turn.turnId }] : abortTurn(state)
}

/** Ends a turn that was open where a session was copied or exported. It may continue in the original, never in the copy. */
export function abortCopiedTurn(state: Busy, why: Failure = COPIED): readonly Body[] {
  const { turnId, promptId, prompt: content, meta } = state.turn
  if (turnId !== '') return abortTurn(state, why)
  // The copy ends between the acceptance of a prompt and the beginning of its turn.
  const begun = { ...state, turn: { ...state.turn, turnId: `t${state.turns + 1}` } }
  return [...beginTurn(state.turns + 1, { promptId, content, ...(meta && { meta }) }), ...abortTurn(begun, why)]
}

const COPIED: Failure = {
  code: 'TURN_INTERRUPTED',
  message:
    'Interrupted: this session was forked from another while that one was working on this. There it may have gone on; prompt again to continue here.',
}

function abortTurn(state: Busy, error?: Failure): readonly Body[] {
  const isCancelled = state.phase === 'cancelling'
  const stopReason = isCancelled ? 'cancelled' : 'interrupted'
  const calls = endOpenCalls(state, isCancelled ? 'cancelled' : 'failed', () => 'Interrupted; it may have run.')
  const open = [...withdrawQuestions(state), ...calls, ...endCompactions(state, 'failed')]
  return [...withdrawQueue(state), ...open, ended(state, stopReason, { error })]
}

function withdrawQueue({ queue }: Busy): readonly Body[] {
  return queue.map(({ promptId }) => ({ kind: 'prompt_withdrawn', promptId, reason: 'interrupted' }))
}

export function withdrawQuestions(state: Busy): readonly Body[] {
  return openQuestions(state).map(({ requestId }) => ({
    kind: 'permission_resolved',
    requestId,
    outcome: { outcome: 'cancelled' },
  }))
}

function endOpenCalls(
  { turn }: Busy,
  status: 'failed' | 'cancelled',
  why: (was: ToolStatus, isPaused: boolean) => string,
): readonly Body[] {
  return Object.entries(turn.calls).map(([toolCallId, was]): Body => {
    const text = why(was, Object.hasOwn(turn.inputRequired, toolCallId))
    const content = [{ type: 'content', content: { type: 'text', text } }] as const
    return { kind: 'tool_call_patched', toolCallId, patch: { status, content } }
  })
}

/** A compaction that its turn did not finish is never continued. */
function endCompactions({ turn }: Busy, status: 'failed' | 'cancelled'): readonly Body[] {
  const open = Object.keys(turn.compactions).filter((id) => turn.compactions[id] === 'in_progress')
  return open.map((compactionId) => ({ kind: 'compaction', compactionId, patch: { status } }))
}

function ended(
  { turn }: Busy,
  stopReason: TurnEnd,
  why: { readonly error?: Failure | undefined; readonly by?: string | undefined },
): Body {
  const { turnId, promptId, stoppedBy } = turn
  const { error, by = stoppedBy } = why
  return {
    kind: 'turn_ended',
    turnId,
    promptId,
    stopReason,
    ...(error && { error }),
    ...(by !== undefined && stopReason === 'cancelled' && { by }),
  }
}

function nextOf(state: Busy): readonly Body[] {
  const [next] = state.queue
  return next === undefined ? [] : beginTurn(state.turns + 1, next)
}
