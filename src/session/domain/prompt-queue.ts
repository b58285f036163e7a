/** What happens to prompts: one begins a turn or waits behind it, is put first, withdrawn or cancelled. Pure, part of `decide`. */
import { fail } from '../../errors/parley-error.ts'
import type { Content } from '../../ports/values/content.ts'
import type { Command } from './commands.ts'
import { type Body, beginTurn } from './entries.ts'
import { endTurn, withdrawQuestions } from './finish-turn.ts'
import { type Busy, type Existing, isBusy, withoutQuestions } from './state.ts'
import { titleFrom } from './title.ts'

/** Prompts that may wait behind a running turn. */
export const QUEUE_LIMIT = 32

type Of<Kind extends Command['kind']> = Command & { readonly kind: Kind }

export function acceptPrompt(command: Of<'prompt'>, state: Existing): readonly Body[] {
  if (state.phase === 'closed') return fail('SESSION_CLOSED', { session: state.id })
  if (isKnown(command.promptId, state)) return []
  const { promptId, content, additionalDirectories = [], meta, by } = command
  const roots = additionalDirectories.length === 0 ? {} : { additionalDirectories }
  const attached = { ...(meta && { meta }), ...(by && { by }) }
  const accepted: Body = { kind: 'prompt_accepted', promptId, content, ...roots, ...attached }
  if (!isBusy(state)) return [accepted, ...beginTurn(state.turns + 1, command), ...firstTitle(content, state)]
  if (state.queue.length >= QUEUE_LIMIT) return fail('QUEUE_FULL', { session: state.id, limit: QUEUE_LIMIT })
  return [accepted]
}

/** A prompt sent again with the same id runs once. */
function isKnown(promptId: string, state: Existing): boolean {
  if (state.recentPrompts.some((ended) => ended.promptId === promptId)) return true
  return (
    isBusy(state) && (state.turn.promptId === promptId || state.queue.some((queued) => queued.promptId === promptId))
  )
}

function firstTitle(content: readonly Content[], state: { readonly title: string | null }): readonly Body[] {
  const title = state.title === null ? titleFrom(content) : undefined
  return title === undefined ? [] : [{ kind: 'title', title }]
}

export function cancel(command: Of<'cancel'>, state: Busy): readonly Body[] {
  const stays = state.queue.filter((queued) => !command.queued.includes(queued.promptId))
  const withdrawn = state.queue.filter((queued) => !stays.includes(queued))
  return [
    ...withdrawn.map(({ promptId }): Body => ({ kind: 'prompt_withdrawn', promptId, reason: 'cancelled' })),
    ...cancelTurn({ ...state, queue: stays }, command.by),
  ]
}

/** On a lost connection a prompt may be behind the question of what became of it; it must not run after the answer. */
export function rejectUnknownPrompts({ promptIds }: Of<'reject_unknown_prompts'>, state: Existing): readonly Body[] {
  const unknown = promptIds.filter((promptId) => !isKnown(promptId, state))
  return [...new Set(unknown)].map((promptId) => ({ kind: 'prompt_withdrawn', promptId, reason: 'interrupted' }))
}

export function isQueued({ promptId }: Of<'withdraw_waiting' | 'promote'>, { queue }: Busy): boolean {
  return queue.some((queued) => queued.promptId === promptId)
}

export function promote({ promptId, now = false, by }: Of<'promote'>, state: Busy): readonly Body[] {
  const isNext = state.queue[0]?.promptId === promptId
  const promoted: readonly Body[] = isNext ? [] : [{ kind: 'prompt_promoted', promptId }]
  // A suspended turn ends at once, and what is next then begins: the promoted one.
  const queue = state.queue.toSorted(
    (one, other) => Number(other.promptId === promptId) - Number(one.promptId === promptId),
  )
  return now ? [...promoted, ...cancelTurn({ ...state, queue }, by)] : promoted
}

export function withdrawPrompt({ promptId, by }: Of<'withdraw' | 'withdraw_waiting'>, state: Busy): readonly Body[] {
  if (state.turn.promptId === promptId) return cancelTurn(state, by)
  const waits = state.queue.some((queued) => queued.promptId === promptId)
  return waits ? [{ kind: 'prompt_withdrawn', promptId, reason: 'cancelled' }] : []
}

/** The question goes first, so that the agent stops waiting; a suspended turn has no agent that would end it. */
function cancelTurn(state: Busy, by: string | undefined): readonly Body[] {
  const stopped = by === undefined ? {} : { by }
  const requested: Body = { kind: 'turn_cancel_requested', turnId: state.turn.turnId, ...stopped }
  switch (state.phase) {
    case 'cancelling':
      return []
    case 'suspended':
      return [
        ...withdrawQuestions(state),
        requested,
        ...endTurn(withoutQuestions(state), { stopReason: 'cancelled', ...stopped }),
      ]
    default:
      return [...withdrawQuestions(state), requested]
  }
}
