/**
 * Decides which changes of a session are worth a notification: it waits for an answer, it has ended, or an earlier
 * notification is outdated. Pure.
 */
import type { SessionSummary, WaitingQuestion } from '../../ports/journal.ts'

export type PushNews =
  | { readonly kind: 'waits'; readonly question: WaitingQuestion }
  | { readonly kind: 'ended' | 'broken' }
  /** The question was answered, or is gone. */
  | { readonly kind: 'over' }

/** What was known of a session when it was looked at last. */
export interface KnownState {
  readonly waiting: string | undefined
  readonly end: number
}

/** Against this everything that a session stands at is news. */
export const NOTHING_KNOWN: KnownState = { waiting: undefined, end: 0 }

export function knownOf({ standing }: SessionSummary): KnownState {
  return { waiting: standing?.waiting?.requestId, end: standing?.lastEnd?.seq ?? 0 }
}

/** `since`: ends before that are no news where nothing is known of the session. */
export function newsOf(before: KnownState | undefined, row: SessionSummary, since: number): PushNews | undefined {
  const { waiting, lastEnd } = row.standing ?? {}
  if (waiting !== undefined)
    return waiting.requestId === before?.waiting ? undefined : { kind: 'waits', question: waiting }
  const isNewEnd =
    lastEnd !== undefined &&
    lastEnd.at >= since &&
    // Of a session that nothing is known of, such as one that begins its next turn, an older end is no news.
    (before === undefined ? lastEnd.seq === row.lastSeq : lastEnd.seq !== before.end)
  // Who has stopped a turn knows that it has ended.
  if (isNewEnd && lastEnd.stopReason !== 'cancelled')
    return { kind: lastEnd.stopReason === 'end_turn' ? 'ended' : 'broken' }
  return before?.waiting === undefined ? undefined : { kind: 'over' }
}

/** Safari ends the subscription of a page that shows nothing for a message; that a question is over is nothing to show. */
export function isSentTo(endpoint: string, { kind }: PushNews): boolean {
  return kind !== 'over' || !new URL(endpoint).hostname.endsWith('.push.apple.com')
}
