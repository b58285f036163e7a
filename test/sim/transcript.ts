/**
 * The conversation that a client has in the end, however its updates were merged: its text letter by letter, where each tool
 * call first appeared and its last state, everything else unchanged.
 */
import { updateOf } from '../../src/edge/acp/v1/render/entry-to-update.ts'
import type { ToolCallPatch } from '../../src/ports/values/content.ts'
import type { Entry } from '../../src/session/domain/entries.ts'

export function transcriptOf(entries: readonly Entry[]): readonly unknown[] {
  const isQuestion = ({ kind }: Entry): boolean => kind.startsWith('permission_')
  const said = entries.filter((entry) => !isQuestion(entry)).flatMap(saidBy)
  return [...said, ...entries.filter(isQuestion), ...callsOf(entries)]
}

/** What a client of v1 gets an update of; a cursor is the `seq` of one. */
export function visible(entries: readonly Entry[]): readonly Entry[] {
  return entries.filter((entry) => updateOf(entry) !== undefined)
}

function saidBy(entry: Entry): readonly unknown[] {
  if (entry.kind === 'tool_call') return [`call ${entry.toolCallId}`]
  if (entry.kind === 'tool_call_patched') return []
  if (entry.kind !== 'message_chunk' || entry.role === 'user' || !isBare(entry.content)) return [entry]
  const { messageId, role, content } = entry
  return content.text.split('').map((letter) => `${messageId} ${role} ${letter}`)
}

/** In the order of their first entries, each with its last state. */
function callsOf(entries: readonly Entry[]): readonly unknown[] {
  const calls: { id: string; call: ToolCallPatch; seq: number }[] = []
  for (const entry of entries) {
    if (entry.kind === 'tool_call') calls.push({ id: entry.toolCallId, call: entry.call, seq: entry.seq })
    if (entry.kind !== 'tool_call_patched') continue
    const { toolCallId: id, patch, seq } = entry
    const known = calls.findLast((one) => one.id === id)
    if (known === undefined) calls.push({ id, call: patch, seq })
    else Object.assign(known, { call: { ...known.call, ...patch }, seq })
  }
  return calls
}

function isBare(content: { readonly type: string }): content is { readonly type: 'text'; readonly text: string } {
  return content.type === 'text' && Object.keys(content).length === 2
}
