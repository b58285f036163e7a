/** The journal of a cluster as an index over its sessions reads it, beside all nodes. Nothing is changed by it. */
import type { Cursor, PageLimits, SessionId, StoredEntry } from '../../../ports/journal.ts'
import type { StoredHead } from '../../../ports/search.ts'
import { type PostgresJournalOptions, openShards, shardOf } from './postgres-journal.ts'
import type { Shard } from './shard.ts'
import { type HeadColumns, type StoredSession, storedSession, touchedOf } from './tables/rows.ts'

/** Longer than the time for which an index asks. */
const RECENT_MS = 11 * 60_000
const ROWS_PER_READ = 2_000
/** A number of JavaScript has no more. Keys are random, so that the rest of one names its session as well. */
const KEY_BITS = 53

export interface IndexSource {
  /** All sessions, or those that changed in the last ten minutes; the most recently changed one last. */
  heads(which: 'all' | 'recent'): Promise<readonly StoredHead[]>
  head(id: SessionId): Promise<StoredHead | undefined>
  page(id: SessionId, from: Cursor, limits: PageLimits): Promise<readonly StoredEntry[]>
  close(): Promise<void>
}

/** Throws what `openPostgresJournal` throws. */
export async function openIndexSource(options: Omit<PostgresJournalOptions, 'report'>): Promise<IndexSource> {
  const { clock } = options
  const shards = await openShards(options)
  return {
    async heads(which) {
      const since = which === 'recent' ? touchedOf(clock.now() - RECENT_MS) : undefined
      const sessions = (await Promise.all(shards.map((shard) => sessionsOf(shard, since)))).flat()
      return sessions.toSorted((left, right) => left.row.updatedAt - right.row.updatedAt).map(headOf)
    },
    async head(id) {
      const stored = await shardOf(shards, id).stored(id)
      return stored && headOf(stored)
    },
    page: (id, from, limits) => shardOf(shards, id).page(id, from, limits),
    close: async () => void (await Promise.all(shards.map((shard) => shard.close()))),
  }
}

async function sessionsOf(shard: Shard, since: number | undefined): Promise<readonly StoredSession[]> {
  const found: StoredSession[] = []
  const { all, recent } = shard.statements
  for (let rows = ROWS_PER_READ; rows === ROWS_PER_READ;) {
    const place = [found.at(-1)?.key ?? 0, ROWS_PER_READ]
    const answer = await (since === undefined ? shard.read(all, place) : shard.read(recent, [...place, since]))
    for (const columns of answer.rows) found.push(storedSession(columns as unknown as HeadColumns))
    rows = answer.rows.length
  }
  return found
}

function headOf({ key, row: { id, cwd, title, lastSeq } }: StoredSession): StoredHead {
  return { key: Number(BigInt.asUintN(KEY_BITS, BigInt(key))), id, cwd, title, lastSeq }
}
