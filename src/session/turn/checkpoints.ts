/** Reads back from the journal what the agents of a session need to rebuild their context. */
import type { CheckpointEntry } from '../../ports/agent.ts'
import type { Content } from '../../ports/values/content.ts'
import type { Cursor, Journal, SessionId } from '../../ports/journal.ts'
import { decodeEntry } from '../domain/entries.ts'
import type { Existing } from '../domain/state.ts'
import { READ_PAGE, entriesAfter } from '../log/session-log.ts'

export interface StoredCheckpoints {
  readonly journal: Journal
  readonly session: SessionId
  readonly checkpointRange: Existing['checkpointRange']
}

/** The text that agents wrote after this cursor. */
export async function assistantTextAfter(journal: Journal, session: SessionId, after: Cursor): Promise<string> {
  const words: string[] = []
  for await (const entry of entriesAfter(journal, session, after)) {
    const isSaid = entry.kind === 'message_chunk' && entry.role === 'agent' && entry.content.type === 'text'
    if (isSaid) words.push(entry.content.text)
  }
  return words.join('')
}

/** The prompts after this cursor whose turns a crash ended. */
export async function interruptedPromptsAfter(
  journal: Journal,
  session: SessionId,
  after: Cursor,
): Promise<readonly (readonly Content[])[]> {
  const asked = new Map<string, readonly Content[]>()
  const cut: (readonly Content[])[] = []
  for await (const entry of entriesAfter(journal, session, after)) {
    if (entry.kind === 'prompt_accepted') asked.set(entry.promptId, entry.content)
    if (entry.kind !== 'turn_ended' || entry.stopReason !== 'interrupted') continue
    cut.push(...[asked.get(entry.promptId) ?? []].filter(({ length }) => length > 0))
  }
  return cut
}

/** The checkpoints after this cursor, from the last reset on. */
export async function* readCheckpoints(
  { journal, session, checkpointRange }: StoredCheckpoints,
  after: Cursor,
): AsyncGenerator<CheckpointEntry> {
  if (checkpointRange === null) return
  let cursor = Math.max(after, checkpointRange.first - 1)
  while (cursor < checkpointRange.last) {
    const page = await journal.page(session, cursor, READ_PAGE)
    for (const stored of page) {
      if (stored.seq > checkpointRange.last) return
      const entry = decodeEntry(stored)
      if (entry.kind === 'agent_checkpoint') yield { cursor: entry.seq, data: entry.data }
    }
    cursor = page.at(-1)?.seq ?? checkpointRange.last
  }
}
