/** Promises 2, 4 and 5 as one connection saw them: its answers, its questions and its views. */
import type { Entry } from '../../src/session/domain/entries.ts'
import type { Message } from '../e2e/message.ts'
import { checkView, isAcceptedAs } from './check-view.ts'
import type { Asked, Link, Question } from './link.ts'
import type { Finding, Oversight } from './oversight.ts'

interface Case {
  readonly who: string
  readonly link: Link
  /** All that this client asked, over all its connections. */
  readonly asked: readonly Asked[]
  readonly oversight: Oversight
}

/** `isComplete`: everything that is owed to it has had the time to come. */
export function checkLink(given: Case, isComplete: boolean): readonly Finding[] {
  const { link } = given
  return [
    ...(isComplete ? link.asked.flatMap((asked) => checkAnswered(given, asked)) : []),
    ...(isComplete ? link.questions.flatMap((question) => checkOver(given, question)) : []),
    ...link.asked.flatMap((asked) => asked.answers.flatMap((answer) => checkEnd(given, asked, answer))),
    ...checkViews(given, isComplete),
  ]
}

/** A prompt that was taken along to an opening that failed is for the next one to ask about. */
function checkAnswered({ who }: Case, { method, sessionId, id, answers, adoptedBy }: Asked): readonly Finding[] {
  const isOwed = adoptedBy === undefined || adoptedBy.answers[0]?.result !== undefined
  if (answers.length > 0 || !isOwed) return []
  return [{ promise: 2, what: `${who} has no answer to ${method} ${id} of ${sessionId}` }]
}

function checkOver({ who, oversight }: Case, question: Question): readonly Finding[] {
  const { id, sessionId, replies, withdrawals } = question
  if (replies + withdrawals > 0 || oversight.storage.deleted.has(sessionId)) return []
  return [{ promise: 5, what: `${who} is left with question ${String(id)} of ${sessionId}, which is over` }]
}

/** Answers that say why a prompt was not stored, or not known to be. */
const REFUSALS: ReadonlySet<string> = new Set(['QUEUE_FULL', 'SESSION_NOT_ATTACHED', 'SESSION_NOT_FOUND'])
const UNKNOWN: ReadonlySet<string> = new Set(['JOURNAL_FULL', 'JOURNAL_IO', 'JOURNAL_CONFLICT', 'SESSION_CLOSED'])

function checkEnd({ who, oversight, asked: all }: Case, asked: Asked, { result, error }: Message): readonly Finding[] {
  if (asked.method !== 'session/prompt') return []
  const entries = oversight.storage.entries(asked.sessionId)
  const accepted = entries.find((entry) => isAcceptedAs(entry, asked.words))
  const told = String(result?.['stopReason'] ?? error?.data?.['code'])
  const promptId = asked.promptId ?? (accepted !== undefined && 'promptId' in accepted ? accepted.promptId : undefined)
  const stored = endOf(promptId, entries) ?? (accepted === undefined ? 'never accepted' : 'not ended')
  // Whoever heard that it is not known has sent it again.
  const wasSentAgain = asked.adoptedBy !== undefined && all.some((one) => isSentAgain(one, asked))
  // The end of a prompt that ends with its session is not stored any more.
  const isOfDeleted = told === 'cancelled' || told === 'SESSION_NOT_FOUND'
  if (isOfDeleted && oversight.storage.deleted.has(asked.sessionId)) return []
  if (agrees(told, stored, asked) || (told === 'TURN_INTERRUPTED' && wasSentAgain)) return []
  return [{ promise: 2, what: `${who} is told ${told} of “${asked.words}” in ${asked.sessionId}; stored is ${stored}` }]
}

function agrees(told: string, stored: string, asked: Asked): boolean {
  if (UNKNOWN.has(told)) return true
  if (REFUSALS.has(told)) return stored === 'never accepted' || asked.promptId !== undefined
  if (told === 'TURN_INTERRUPTED')
    return stored === 'interrupted' || (asked.adoptedBy !== undefined && stored === 'never accepted')
  return told === stored || (told === 'AGENT_FAILED' && stored === 'error')
}

function isSentAgain(later: Asked, { id, promptId }: Asked): boolean {
  return later.promptId === promptId && later.id > id
}

function endOf(promptId: string | undefined, entries: readonly Entry[]): string | undefined {
  for (const entry of entries) {
    if (entry.kind === 'prompt_withdrawn' && entry.promptId === promptId) return entry.reason
    if (entry.kind === 'turn_ended' && entry.promptId === promptId) return entry.stopReason
  }
  return undefined
}

function checkViews({ who, link, oversight }: Case, isComplete: boolean): readonly Finding[] {
  return link.views.flatMap((view) => {
    const entries = oversight.storage.entries(view.sessionId)
    const prompts = link.asked.filter(
      ({ method, sessionId }) => method === 'session/prompt' && sessionId === view.sessionId,
    )
    const own = prompts.flatMap((asked) => idOf(asked, entries))
    const onceOnly = prompts.filter(isSentOnce)
    const isDeleted = oversight.storage.deleted.has(view.sessionId)
    const isOwed = isComplete && !view.isOver && !isDeleted
    const sentOnce = new Set(onceOnly.flatMap((asked) => idOf(asked, entries)))
    return checkView({ who, view, entries, own: new Set(own), sentOnce, isComplete: isOwed, isDeleted })
  })
}

/** Whoever was told that it failed may be shown it all the same, if it turns out to be stored. */
function isSentOnce({ promptId, adoptedBy, answers }: Asked): boolean {
  return promptId === undefined && adoptedBy === undefined && answers[0]?.error === undefined
}

function idOf({ promptId, words }: Asked, entries: readonly Entry[]): readonly string[] {
  if (promptId !== undefined) return [promptId]
  const accepted = entries.find((entry) => isAcceptedAs(entry, words))
  return accepted !== undefined && 'promptId' in accepted ? [accepted.promptId] : []
}
