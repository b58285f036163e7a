/** What is told of tool calls is what the journal has of them by then, and nothing is left out but what was set anew later. */
import type { Fields, SeenUpdate } from '../e2e/message.ts'
import type { Finding, JournalRow } from './evidence.ts'

interface Change {
  readonly seq: number
  readonly id: string
  readonly fields: Fields
}

/** `from` is what the client had before: it is owed nothing up to there. */
export function checkCalls(
  who: string,
  updates: readonly SeenUpdate[],
  { journal, from = 0 }: { readonly journal: readonly JournalRow[]; readonly from?: number },
): readonly Finding[] {
  const stored = journal.flatMap(changeIn)
  const told = updates.flatMap(toldIn)
  const until = updates.at(-1)?.seq ?? 0
  const seen = new Set(told.map(({ seq }) => seq))
  const owed = stored.filter(({ seq }) => seq > from && seq <= until && !seen.has(seq))
  return [...told.flatMap((one) => checkTold(who, one, stored)), ...owed.flatMap((one) => checkOwed(who, one, stored))]
}

function changeIn({ seq, body }: JournalRow): readonly Change[] {
  const fields =
    body.kind === 'tool_call' ? body['call'] : body.kind === 'tool_call_patched' ? body['patch'] : undefined
  return fields === undefined ? [] : [{ seq, id: String(body['toolCallId']), fields: asTold(fields as Fields) }]
}

/** Version 1 of ACP has no word for a call that was cancelled. */
function asTold(fields: Fields): Fields {
  return fields['status'] === 'cancelled' ? { ...fields, status: 'failed' } : fields
}

function toldIn({ seq, update }: SeenUpdate): readonly Change[] {
  const { sessionUpdate, toolCallId, ...fields } = update
  return sessionUpdate.startsWith('tool_call') ? [{ seq, id: String(toolCallId), fields }] : []
}

/** Each field as the last change up to there has set it. */
function checkTold(who: string, { seq, id, fields }: Change, stored: readonly Change[]): readonly Finding[] {
  const before = stored.filter((one) => one.id === id && one.seq <= seq)
  const wrong = Object.keys(fields).find((key) => {
    const set = before.findLast((one) => key in one.fields)
    return JSON.stringify(set?.fields[key]) !== JSON.stringify(fields[key])
  })
  return wrong === undefined ? [] : [{ kind: 'wrong', what: `${who} was told ${wrong} of call ${id} at seq ${seq}` }]
}

/** It was told with a later change, or is set anew by one. */
function checkOwed(who: string, { seq, id, fields }: Change, stored: readonly Change[]): readonly Finding[] {
  const later = stored.filter((one) => one.id === id && one.seq > seq)
  return later.length > 0 || Object.keys(fields).length === 0
    ? []
    : [{ kind: 'lost', what: `${who} was not told seq ${seq} of call ${id}` }]
}
