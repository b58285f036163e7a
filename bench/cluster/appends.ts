/** Appends that are acknowledged one after the other in each of many sessions: SQLite, PostgreSQL, and PostgreSQL with a standby. */
import { mkdtemp } from 'node:fs/promises'
import { join } from 'node:path'
import { systemClock } from '../../src/adapters/clock.ts'
import { openPostgresJournal } from '../../src/adapters/journal/postgres/postgres-journal.ts'
import { initCluster } from '../../src/adapters/journal/postgres/tables/init.ts'
import { openSqliteJournal } from '../../src/adapters/journal/sqlite/sqlite-journal.ts'
import type { Journal } from '../../src/ports/journal.ts'
import { PostgresServer } from '../../test/postgres/server.ts'
import { appendOf, workerUrl } from '../journal-rows.ts'
import { ms, quantile } from '../row.ts'

const SECONDS = 2
const GRID = [1, 100, 1_000].flatMap((sessions) => [1, 20].map((entries) => ({ sessions, entries })))

interface Figures {
  readonly appends: number
  readonly p50: number
  readonly p99: number
}

export async function measureAppends(directory: string, share: number): Promise<readonly string[]> {
  const server = await PostgresServer.start()
  const standby = await server.standby('standby')
  try {
    const sqlite = await openSqliteJournal({ directory: await mkdtemp(join(directory, 'sqlite-')), workerUrl })
    const columns = [await table(sqlite, share), await table(await opened(server), share)]
    await server.query("ALTER SYSTEM SET synchronous_standby_names = 'FIRST 1 (standby)'")
    await server.query('SELECT pg_reload_conf()')
    columns.push(await table(await opened(server), share))
    const rows = GRID.map(({ sessions, entries }, row) => [
      `${sessions} × ${entries}`,
      ...columns.map((column) => shown(column[row], entries)),
    ])
    const head = ['sessions × entries', 'SQLite', 'PostgreSQL', 'PostgreSQL, synchronous standby']
    return [
      'appends/s · entries/s (p50 / p99)',
      ...[head, ...rows].map((cells) => cells.map((cell) => cell.padEnd(46)).join('| ')),
    ]
  } finally {
    await standby.close()
    await server.close()
  }
}

async function opened(server: PostgresServer): Promise<Journal> {
  const place = { urls: [server.url], schema: server.schema() }
  await initCluster(place, systemClock.id())
  const given = { ...place, boot: systemClock.id(), unsafe: false, clock: systemClock }
  return openPostgresJournal({ ...given, report: (error) => console.error(error) })
}

async function table(journal: Journal, share: number): Promise<readonly Figures[]> {
  const figures: Figures[] = []
  for (const [row, { sessions, entries }] of GRID.entries()) {
    const ids = Array.from({ length: sessions }, (_, index) => `s${row}-${index}`)
    await Promise.all(ids.map((id) => journal.append(appendOf(id, 0, 1))))
    figures.push(await measure(journal, ids, { entries, end: performance.now() + SECONDS * 1_000 * share }))
  }
  await journal.close()
  return figures
}

interface Size {
  readonly entries: number
  /** Of `performance.now()`. */
  readonly end: number
}

async function measure(journal: Journal, ids: readonly string[], { entries, end }: Size): Promise<Figures> {
  const times: number[] = []
  const begun = performance.now()
  await Promise.all(
    ids.map(async (id) => {
      for (let seq = 1; performance.now() < end; seq += entries) {
        const sent = performance.now()
        await journal.append(appendOf(id, seq, entries))
        times.push(performance.now() - sent)
      }
    }),
  )
  const seconds = (performance.now() - begun) / 1_000
  return { appends: times.length / seconds, p50: quantile(times, 0.5), p99: quantile(times, 0.99) }
}

function shown(figures: Figures | undefined, entries: number): string {
  if (figures === undefined) return ''
  const count = (value: number) => Math.round(value).toLocaleString('en')
  const { appends, p50, p99 } = figures
  return `${count(appends)} · ${count(appends * entries)} (${ms(p50)} / ${ms(p99)})`
}
