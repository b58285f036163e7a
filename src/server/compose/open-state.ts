/**
 * Opens the state without the code of a server: for reading only, also while a server owns it, or for the server that is
 * still being loaded.
 */
import { join } from 'node:path'
import { systemClock } from '../../adapters/clock.ts'
import {
  type JournalReader,
  type OwnedJournal,
  openSqliteJournal,
  openSqliteReader,
} from '../../adapters/journal/sqlite/sqlite-journal.ts'
import { journalExists } from '../../adapters/journal/sqlite/file/journal-exists.ts'
import { openSearchIndex } from '../../adapters/search/worker/search-client.ts'
import { SharedActivity } from '../../adapters/watchdog/shared-activity.ts'
import type { Config } from '../../config/settings.ts'
import type { FaultsSpec } from '../../ports/fault.ts'
import type { SearchIndex } from '../../ports/search.ts'
import { endOfferedWorker } from '../../threads/early-worker.ts'
import { readPidFile } from '../daemon/pid-file.ts'
import { searchOptions } from '../cluster/search/index-order.ts'
import { logPathIn } from '../log/log-line.ts'
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

export interface OwnJournal {
  /** Absent where a cluster has the journal. May be refused before anything awaits it. */
  readonly opened: Promise<OwnedJournal> | undefined
  /** What the journal's thread watches. */
  readonly activity: SharedActivity
}

/** Its thread starts while the bundles of a server are loaded. */
export function openOwnJournal({ home, cluster, faults, maxStallSeconds }: Config): OwnJournal {
  const activity = new SharedActivity(systemClock)
  const url = workerUrl('journal-worker')
  if (cluster !== undefined) {
    endOfferedWorker(url)
    return { opened: undefined, activity }
  }
  const opened = openSqliteJournal({
    directory: home,
    workerUrl: url,
    faults: faults as FaultsSpec,
    watch: { memory: activity.memory, logPath: logPathIn(home), maxStallSeconds },
  })
  opened.catch(() => undefined)
  return { opened, activity }
}
