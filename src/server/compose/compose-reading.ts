/** Opens the state for reading only, also while a server owns it, and without loading the code of a server. */
import { join } from 'node:path'
import { type JournalReader, openSqliteReader } from '../../adapters/journal/sqlite/sqlite-journal.ts'
import { journalExists } from '../../adapters/journal/sqlite/file/journal-exists.ts'
import { openSearchIndex } from '../../adapters/search/worker/search-client.ts'
import type { Config } from '../../config/settings.ts'
import type { SearchIndex } from '../../ports/search.ts'
import { readPidFile } from '../daemon/pid-file.ts'
import { searchOptions } from '../cluster/search/index-order.ts'
import { workerUrl } from './workers.ts'

export type { JournalReader }

/** Reads the journal, also while another process owns it; without a journal it is empty. */
export async function openJournalReader({ home, cluster }: Config): Promise<JournalReader> {
  if (cluster !== undefined) return (await import('../cluster/cluster-reading.ts')).openClusterReader(cluster)
  return openSqliteReader({ directory: home, workerUrl: workerUrl('journal-worker') })
}

/** Full-text search over the journal, also while another process owns it; each search updates the index first. */
export function openSearch(config: Config, report: (error: unknown) => void = () => undefined): SearchIndex {
  return openSearchIndex({ ...searchOptions(config), report })
}

/** Throws JOURNAL_IO where that cannot be known. */
export function hasJournal({ home, cluster }: Config): boolean {
  return cluster !== undefined || journalExists(join(home, 'journal.db'))
}

/** Whether a process owns the journal now. That of a cluster may be anywhere, and is soon followed by another. */
export function hasOwner({ home, cluster }: Config): boolean {
  return cluster !== undefined || readPidFile(home) !== undefined
}
