/** Reads the result of an earlier tool call back from the journal. */
import type { Content, ToolCallContent, ToolCallPatch, ToolStatus } from '../../ports/values/content.ts'
import type { Journal, SessionId } from '../../ports/journal.ts'
import { type Entry, decodeEntry } from '../domain/entries.ts'

const SEARCH_PAGE = { entries: 2_000, chars: 4 * 1024 * 1024 } as const

const OPEN: ReadonlySet<ToolStatus> = new Set(['pending', 'in_progress'])

export interface StoredToolResult {
  readonly journal: Journal
  readonly session: SessionId
}

/** The content of the call at its end; undefined if there is no such call or it has not ended. */
export async function findToolResult(
  kept: StoredToolResult,
  toolCallId: string,
): Promise<readonly Content[] | undefined> {
  let content: readonly ToolCallContent[] = []
  let hasEnded = false
  for await (const patch of patchesOf(kept, toolCallId)) {
    content = patch.content ?? content
    hasEnded ||= patch.status !== undefined && !OPEN.has(patch.status)
  }
  return hasEnded ? content.map(readable) : undefined
}

async function* patchesOf({ journal, session }: StoredToolResult, toolCallId: string): AsyncGenerator<ToolCallPatch> {
  const mark = JSON.stringify(toolCallId)
  let cursor = 0
  for (;;) {
    // The journal filters: most entries are about something else.
    const { entries, until } = await journal.find(session, { from: cursor, text: mark }, SEARCH_PAGE)
    for (const stored of entries) {
      const patch = patchIn(decodeEntry(stored), toolCallId)
      if (patch !== undefined) yield patch
    }
    if (until === undefined) return
    cursor = until
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
