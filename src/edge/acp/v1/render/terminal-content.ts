/** Terminals within tool calls: whoever has them shows them, everyone else reads what they said. */
import type { ToolCallContent, ToolCallPatch } from '../../../../ports/content.ts'
import type { Entry } from '../../../../session/domain/entries.ts'

/** Whether what a client is told of this depends on which terminals it has. */
export function hasTerminals(entry: Entry): boolean {
  return contentOf(entry).some(({ type }) => type === 'terminal')
}

export type CallEntry = Entry & { readonly kind: 'tool_call' | 'tool_call_patched' }

/** Whether a client that has these terminals can be shown at least one of them here. */
export function showsTerminals(entry: Entry, isOwn: (terminalId: string) => boolean): entry is CallEntry {
  return contentOf(entry).some((content) => content.type === 'terminal' && isOwn(content.terminalId))
}

/** A call as whoever has `isOwn` terminals may be told of it. */
export function withTerminals<Patch extends ToolCallPatch>(patch: Patch, isOwn: (terminalId: string) => boolean) {
  const { content } = patch
  return content === undefined ? patch : { ...patch, content: content.map((one) => shown(one, isOwn)) }
}

function shown(content: ToolCallContent, isOwn: (terminalId: string) => boolean): object {
  if (content.type !== 'terminal') return content
  const { type, terminalId, output } = content
  if (isOwn(terminalId)) return { type, terminalId }
  return { type: 'content', content: { type: 'text', text: output ?? ELSEWHERE } }
}

const ELSEWHERE = 'This runs in a terminal of the client that asked for it.'

function contentOf(entry: Entry): readonly ToolCallContent[] {
  if (entry.kind === 'tool_call') return entry.call.content ?? []
  return entry.kind === 'tool_call_patched' ? (entry.patch.content ?? []) : []
}
