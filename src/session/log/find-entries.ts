/** Single facts of a stored session, found where the journal is kept, without reading the rest. */
import type { Cursor, Journal, SessionId } from '../../ports/journal.ts'
import { type Entry, decodeEntry } from '../domain/entries.ts'

const LIMITS = { entries: 10_000, chars: 16 * 1024 * 1024 } as const

/** A prompt of the conversation, also of a turn that the agent had without Parley. */
export interface OutlinePrompt {
  readonly seq: Cursor
  readonly at: number
  readonly turn: string
  readonly by?: string
  /** Its beginning. */
  readonly text: string
}

/** Characters of a prompt that an outline shows. */
const OUTLINE_CHARS = 200

/** All prompts whose turn has begun, the first one first. */
export async function promptOutlineOf(
  journal: Pick<Journal, 'find'>,
  id: SessionId,
): Promise<readonly OutlinePrompt[]> {
  const prompts = new Map<string, OutlinePrompt>()
  for await (const entry of entriesWith(journal, id, '"role":"user"')) {
    if (entry.kind !== 'message_chunk' || entry.role !== 'user') continue
    const { messageId, content, seq, at, by } = entry
    const known = prompts.get(messageId) ?? { seq, at, turn: turnIn(messageId), ...(by && { by }), text: '' }
    const more = content.type === 'text' ? content.text : ''
    prompts.set(messageId, { ...known, text: beginningOf([known.text, more].filter(Boolean).join(' ')) })
  }
  return [...prompts.values()]
}

/** Messages are named after their turn. */
function turnIn(messageId: string): string {
  return messageId.split('-', 1)[0] ?? messageId
}

/** Cut between characters: half a surrogate pair is no text. */
function beginningOf(text: string): string {
  return Array.from(text.slice(0, 2 * OUTLINE_CHARS))
    .slice(0, OUTLINE_CHARS)
    .join('')
}

type Resolved = Entry & { readonly kind: 'permission_resolved' }

/** How this permission request ended; undefined for one that never was, or that is still open. */
export async function resolutionOf(
  journal: Pick<Journal, 'find'>,
  id: SessionId,
  requestId: string,
): Promise<Resolved | undefined> {
  for await (const entry of entriesWith(journal, id, JSON.stringify(requestId)))
    if (entry.kind === 'permission_resolved' && entry.requestId === requestId) return entry
  return undefined
}

async function* entriesWith(journal: Pick<Journal, 'find'>, id: SessionId, text: string): AsyncGenerator<Entry> {
  let from: Cursor | undefined = 0
  while (from !== undefined) {
    const found = await journal.find(id, { from, text }, LIMITS)
    yield* found.entries.map(decodeEntry)
    from = found.until
  }
}
