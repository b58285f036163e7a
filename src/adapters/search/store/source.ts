/** What the index reads, in its own thread. The entry point of the thread passes an implementation in. */
import type { StoredEntry } from '../../../ports/journal.ts'
import type { JournalSource, SearchDocument } from '../../../ports/search.ts'

export interface SearchSource extends JournalSource {
  /** The documents in consecutive entries. `turn` is the one that the call for the entries before them returned. */
  documents(
    entries: readonly StoredEntry[],
    turn: string | null,
  ): { readonly documents: readonly SearchDocument[]; readonly turn: string | null }
}
