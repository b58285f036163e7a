/** What the agents of a session kept for themselves, read back from the journal. */
import type { Memo } from '../ports/agent.ts'
import type { Cursor, Journal, SessionId } from '../ports/journal.ts'
import { decodeEntry } from './entries.ts'
import type { Existing } from './state.ts'

const PAGE = { entries: 2_000, chars: 4 * 1024 * 1024 } as const

export interface Remembered {
  readonly journal: Journal
  readonly session: SessionId
  readonly steps: Existing['steps']
}

/** The bare text that agents said after this place. */
export async function wordsSince(journal: Journal, session: SessionId, after: Cursor): Promise<string> {
  const words: string[] = []
  let cursor = after
  for (;;) {
    const page = await journal.page(session, cursor, PAGE)
    for (const stored of page) {
      const entry = decodeEntry(stored)
      const isSaid = entry.kind === 'message_chunk' && entry.role === 'agent' && entry.content.type === 'text'
      if (isSaid) words.push(entry.content.text)
    }
    const last = page.at(-1)
    if (last === undefined) return words.join('')
    cursor = last.seq
  }
}

/** The memos after this place, from the last fresh one on; what was said between them is read over. */
export async function* memos({ journal, session, steps }: Remembered, after: Cursor): AsyncGenerator<Memo> {
  if (steps === null) return
  let cursor = Math.max(after, steps.first - 1)
  while (cursor < steps.last) {
    const page = await journal.page(session, cursor, PAGE)
    for (const stored of page) {
      if (stored.seq > steps.last) return
      const entry = decodeEntry(stored)
      if (entry.kind === 'model_step') yield { place: entry.seq, memo: entry.step }
    }
    cursor = page.at(-1)?.seq ?? steps.last
  }
}
