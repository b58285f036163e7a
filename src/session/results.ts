/** What a tool call of the session came to, read back from the journal. */
import type { Content, ToolCallContent, ToolCallPatch } from '../ports/content.ts'
import type { Journal, SessionId } from '../ports/journal.ts'
import { type Entry, decodeEntry } from './entries.ts'

const PAGE = { entries: 2_000, chars: 4 * 1024 * 1024 } as const

export interface Kept {
  readonly journal: Journal
  readonly session: SessionId
}

/** What the call showed in the end; undefined for one that is not there or has not ended. */
export async function resultOf(kept: Kept, toolCallId: string): Promise<readonly Content[] | undefined> {
  let content: readonly ToolCallContent[] = []
  let hasEnded = false
  for await (const patch of patchesOf(kept, toolCallId)) {
    content = patch.content ?? content
    hasEnded ||= patch.status === 'completed' || patch.status === 'failed'
  }
  return hasEnded ? content.map(readable) : undefined
}

async function* patchesOf({ journal, session }: Kept, toolCallId: string): AsyncGenerator<ToolCallPatch> {
  const mark = JSON.stringify(toolCallId)
  let cursor = 0
  for (;;) {
    const page = await journal.page(session, cursor, PAGE)
    for (const stored of page) {
      // Most entries are about something else, and need not be parsed to know that.
      const patch = stored.body.includes(mark) ? patchIn(decodeEntry(stored), toolCallId) : undefined
      if (patch !== undefined) yield patch
    }
    const last = page.at(-1)
    if (last === undefined) return
    cursor = last.seq
  }
}

function patchIn(entry: Entry, toolCallId: string): ToolCallPatch | undefined {
  if (entry.kind === 'tool_call' && entry.toolCallId === toolCallId) return entry.call
  return entry.kind === 'tool_call_patched' && entry.toolCallId === toolCallId ? entry.patch : undefined
}

function readable(content: ToolCallContent): Content {
  if (content.type === 'content') return content.content
  if (content.type === 'terminal') return { type: 'text', text: content.output ?? '' }
  return { type: 'text', text: `${content.path}:\n${content.newText}` }
}
