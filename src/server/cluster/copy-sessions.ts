/**
 * Copies whole sessions and the credentials of clients between the state directory of a machine and a cluster. What is there already is
 * left as it is.
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { systemClock } from '../../adapters/clock.ts'
import { openPostgresJournal } from '../../adapters/journal/postgres/postgres-journal.ts'
import { journalExists } from '../../adapters/journal/sqlite/file/journal-exists.ts'
import { openSqliteJournal } from '../../adapters/journal/sqlite/sqlite-journal.ts'
import type { ClusterSettings } from '../../config/settings.ts'
import { Credentials } from '../../credentials/key-ring.ts'
import { fail, isParleyError } from '../../errors/parley-error.ts'
import type { ImportingJournal, Journal, SessionSummary, StoredEntry } from '../../ports/journal.ts'
import { workerUrl } from '../compose/workers.ts'
import { clusterNodes, openClusterCredentials, shownDatabases } from './cluster-reading.ts'

const COPY_PAGE = { entries: 2_000, chars: 4 * 1024 * 1024 }

export interface Copied {
  readonly sessions: number
  readonly entries: number
  /** Sessions that were there already. */
  readonly skipped: number
  /** Access tokens, devices and share links. */
  readonly credentials: number
}

/** Throws STATE_IN_USE while a server uses the directory, and FILE_MISSING where it has no journal. */
export async function importSessions(cluster: ClusterSettings, directory: string): Promise<Copied> {
  const path = join(directory, 'journal.db')
  if (!journalExists(path)) fail('FILE_MISSING', { path })
  // As its owner, so that nothing is appended meanwhile.
  const from = await openSqliteJournal({ directory, workerUrl: workerUrl('journal-worker') })
  try {
    const copied = await withCluster(cluster, (to) => copySessions(from, to))
    return { ...copied, credentials: await importCredentials(cluster, directory) }
  } finally {
    await from.close()
  }
}

async function importCredentials(cluster: ClusterSettings, directory: string): Promise<number> {
  const credentials = await openClusterCredentials(cluster)
  try {
    return await credentials.adopt(new Credentials(directory, systemClock))
  } finally {
    await credentials.close()
  }
}

/** Throws CLUSTER_IN_USE while a node serves the cluster, and STATE_IN_USE while a server uses the directory. */
export async function exportSessions(cluster: ClusterSettings, directory: string): Promise<Copied> {
  const [serving] = await clusterNodes(cluster)
  if (serving !== undefined)
    fail('CLUSTER_IN_USE', { path: shownDatabases(cluster), pid: serving.pid, node: serving.name })
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const to = await openSqliteJournal({ directory, workerUrl: workerUrl('journal-worker') })
  try {
    const copied = await withCluster(cluster, (from) => copySessions(from, to))
    return { ...copied, credentials: await exportCredentials(cluster, directory) }
  } finally {
    await to.close()
  }
}

async function exportCredentials(cluster: ClusterSettings, directory: string): Promise<number> {
  const credentials = await openClusterCredentials(cluster)
  try {
    return new Credentials(directory, systemClock).adopt(credentials.known)
  } finally {
    await credentials.close()
  }
}

async function withCluster<Result>(
  { urls, schema, unsafe, minDurability }: ClusterSettings,
  use: (journal: ImportingJournal) => Promise<Result>,
): Promise<Result> {
  const isReplicated = minDurability === 'replicated'
  const given = {
    urls,
    schema,
    unsafe,
    isReplicated,
    boot: systemClock.id(),
    clock: systemClock,
    report: () => undefined,
  }
  const journal = await openPostgresJournal(given)
  try {
    return await use(journal)
  } finally {
    await journal.close()
  }
}

async function copySessions(from: Journal, to: ImportingJournal): Promise<Omit<Copied, 'credentials'>> {
  let [sessions, entries, skipped] = [0, 0, 0]
  const rows = await from.list({ limit: Number.MAX_SAFE_INTEGER })
  // The oldest first: after an interruption, copying continues with the newest.
  for (const row of rows.toReversed()) {
    if (await copySession(from, to, row)) {
      sessions += 1
      entries += row.lastSeq
    } else skipped += 1
  }
  return { sessions, entries, skipped }
}

/** False where it is there already. */
async function copySession(from: Journal, to: ImportingJournal, row: SessionSummary): Promise<boolean> {
  const snapshot = (await from.head(row.id))?.snapshot
  try {
    await to.importSession(entriesOf(from, row), () => ({
      row,
      entries: [],
      expected: row.lastSeq,
      ...(snapshot !== undefined && { snapshot }),
    }))
    return true
  } catch (error) {
    if (!isParleyError(error, 'JOURNAL_CONFLICT')) throw error
    return false
  }
}

async function* entriesOf(from: Journal, { id, lastSeq }: SessionSummary): AsyncGenerator<readonly StoredEntry[]> {
  let seq = 0
  while (seq < lastSeq) {
    const page = await from.page(id, seq, COPY_PAGE)
    const last = page.at(-1)
    if (last === undefined)
      return fail('JOURNAL_CORRUPT', { path: id, reason: `it ends at entry ${seq} of ${lastSeq}` })
    yield page
    seq = last.seq
  }
}
