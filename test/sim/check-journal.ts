/** Promises 2, 5 and 6 as the journal alone shows them: no hole, one end for each prompt, no answer that nobody gave. */
import type { Entry } from '../../src/session/domain/entries.ts'
import { evolve } from '../../src/session/domain/evolve.ts'
import { type State, absent } from '../../src/session/domain/state.ts'
import { account } from './account.ts'
import type { Finding, Oversight } from './oversight.ts'

export function checkJournal(id: string, oversight: Oversight): readonly Finding[] {
  const entries = oversight.storage.entries(id)
  // What a fork has copied was answered in another session.
  const own = entries.slice(entries.findLastIndex(({ kind }) => kind === 'forked_from') + 1)
  const isWhole = !oversight.storage.deleted.has(id)
  return [
    ...checkOrder(id, entries),
    ...(isWhole ? checkEnds(id, entries) : []),
    ...own.flatMap((entry) => checkAnswer(id, entry, { entries, oversight })),
  ]
}

function checkOrder(id: string, entries: readonly Entry[]): readonly Finding[] {
  try {
    entries.reduce<State>(evolve, absent(id))
    return []
  } catch (error) {
    return [{ promise: 6, what: `${id} cannot be read again: ${String(error)}` }]
  }
}

function checkEnds(id: string, entries: readonly Entry[]): readonly Finding[] {
  const { accepted, ends, strays, leftOpen } = account(entries)
  const uneven = accepted.filter((promptId) => ends(promptId) !== 1)
  const twice = accepted.filter((promptId, index) => accepted.indexOf(promptId) !== index)
  return [
    ...uneven.map((promptId): Finding => ({ promise: 2, what: `${promptId} of ${id} ended ${ends(promptId)} times` })),
    ...twice.map((promptId): Finding => ({ promise: 3, what: `${promptId} of ${id} was accepted twice` })),
    ...strays.map((entry): Finding => ({ promise: 2, what: `${id} has a stray ${JSON.stringify(entry)}` })),
    ...leftOpen.map((what): Finding => ({ promise: 2, what: `${id} left ${what} open` })),
  ]
}

interface Context {
  readonly entries: readonly Entry[]
  readonly oversight: Oversight
}

function checkAnswer(id: string, entry: Entry, { entries, oversight }: Context): readonly Finding[] {
  if (entry.kind !== 'permission_resolved' || entry.outcome.outcome !== 'selected') return []
  const { optionId } = entry.outcome
  const question = entries.find((one) => one.kind === 'permission_requested' && one.requestId === entry.requestId)
  const toolCallId = question?.kind === 'permission_requested' ? question.toolCallId : ''
  if (oversight.wasAnswered(id, toolCallId, optionId)) return []
  return [{ promise: 5, what: `${toolCallId} of ${id} is answered “${optionId}”, which nobody did` }]
}
