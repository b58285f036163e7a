/**
 * The part of the journal that the index reads, in its own thread. The entry point of the thread
 * passes an implementation in.
 */
import type { Cursor, PageLimits, SessionId, StoredEntry } from '../../../ports/journal.ts'
import type { SearchDocument } from '../../../ports/search.ts'

/** A session as the journal has it now. */
export interface SourceHead {
  /** Unique: not even a session that reuses an id has the key of an earlier one. */
  readonly key: number
  readonly id: SessionId
  readonly cwd: string
  readonly title: string | null
  readonly lastSeq: Cursor
}

export interface SearchSource {
  /** Every session, the most recently changed one last. */
  heads(): readonly SourceHead[]
  head(id: SessionId): SourceHead | undefined
  page(id: SessionId, from: Cursor, limits: PageLimits): readonly StoredEntry[]
  /** The documents in consecutive entries. `turn` is the one that the call for the entries before them returned. */
  documents(
    entries: readonly StoredEntry[],
    turn: string | null,
  ): { readonly documents: readonly SearchDocument[]; readonly turn: string | null }
  close(): void
}
