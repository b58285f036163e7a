/** What the thread of the search index asks of the one that reads the databases of a cluster for it. */
import type { ClusterSettings } from '../../../config/settings.ts'
import type { Cursor, PageLimits, SessionId, StoredEntry } from '../../../ports/journal.ts'
import type { StoredHead } from '../../../ports/search.ts'

export type ReaderOrder = Pick<ClusterSettings, 'urls' | 'schema' | 'unsafe'>

export interface PageOrder {
  readonly id: SessionId
  readonly from: Cursor
  readonly limits: PageLimits
}

export interface ReaderCalls {
  readonly heads: { readonly ask: 'all' | 'recent'; readonly answer: readonly StoredHead[] }
  readonly head: { readonly ask: SessionId; readonly answer: StoredHead | undefined }
  readonly page: { readonly ask: PageOrder; readonly answer: readonly StoredEntry[] }
}
