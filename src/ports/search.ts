/** Full-text search over the conversations of all sessions: a projection of the journal that can be lost and rebuilt. */
import type { Cursor, PageLimits, SessionId, StoredEntry } from './journal.ts'

/** A session as the journal has it now. */
export interface StoredHead {
  /** Unique: not even a session that uses an id again has the key of an earlier one. */
  readonly key: number
  readonly id: SessionId
  readonly cwd: string
  readonly title: string | null
  readonly lastSeq: Cursor
}

/** The journal as an index reads it in its own thread, beside the owner. */
export interface JournalSource {
  /** Every session, the most recently changed one last. */
  heads(): readonly StoredHead[]
  /**
   * Those that changed in the last ten minutes, where other machines change sessions too. Absent where the index hears of each change,
   * or compares all sessions when it begins.
   */
  recent?(): readonly StoredHead[]
  head(id: SessionId): StoredHead | undefined
  page(id: SessionId, from: Cursor, limits: PageLimits): readonly StoredEntry[]
  close(): void
}

/** Where the text comes from: the user, the agent's answer or thinking, a tool, or the session's title. */
export type Speaker = 'user' | 'agent' | 'thought' | 'tool' | 'title'

/**
 * A piece of a conversation, as the index takes it. Pieces of one `name` are one passage of their session: the chunks of a
 * message, the updates of a tool call.
 */
export interface SearchDocument {
  readonly name: string
  readonly by: Speaker
  readonly seq: Cursor
  readonly at: number
  readonly turn: string | null
  /** Stands above the text; replaces the one before. */
  readonly title?: string
  readonly text?: string
  /** The text continues what the passage has so far; otherwise it replaces that. */
  readonly continues: boolean
}

export interface SearchRequest {
  /** Words that must all occur in a passage; a run of Chinese is a phrase (`src/text/query.ts`). */
  readonly query: string
  /** Only sessions of exactly this directory. */
  readonly cwd?: string
  /** Only these sessions, or those of these directories and below. */
  readonly within?: { readonly sessions: readonly string[] } | { readonly directories: readonly string[] }
  readonly limit: number
  /** How long to wait for an index that is behind the journal. Entries that are not indexed by then are not searched. */
  readonly timeoutMs: number
}

export interface SearchHit {
  readonly sessionId: SessionId
  readonly cwd: string
  readonly title: string | null
  readonly by: Speaker
  /** Null for text outside of turns. */
  readonly turn: string | null
  /** The first and the last entry of the passage. */
  readonly seq: Cursor
  readonly until: Cursor
  /** When it began; milliseconds since 1970. */
  readonly at: number
  /** The passage, or a part of it with its first matches. */
  readonly text: string
  /** Where in `text` the words stand: UTF-16 offsets, the end not included. */
  readonly highlights: readonly (readonly [start: number, end: number])[]
}

export interface SearchAnswer {
  /** Newest first. */
  readonly hits: readonly SearchHit[]
  /** There is more than the limit. */
  readonly more: boolean
  /** Entries of the journal that the index does not have yet. */
  readonly behind: number
}

export interface SearchIndex {
  /** How it stands, without changing anything. Throws SEARCH_UNAVAILABLE. */
  inspect(): Promise<IndexState>
  /** Finds all that was stored before it was asked, unless the timeout passes first. Throws SEARCH_UNAVAILABLE. */
  search(request: SearchRequest): Promise<SearchAnswer>
  /** A session has changed or is gone. Costs nothing, so that an append may say it. */
  changed(session: SessionId): void
  /** Catches up with what was stored before, when there is time for it. */
  follow(): void
  /** Idempotent. */
  close(): Promise<void>
}

export type IndexState =
  | { readonly kind: 'absent' }
  /** The next search rebuilds the index. */
  | { readonly kind: 'unusable'; readonly reason: string }
  /** `behind`: entries of the journal that it does not have yet. */
  | { readonly kind: 'usable'; readonly behind: number }
