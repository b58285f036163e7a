/** Pages of a list of 100,000 sessions. */
import { systemClock } from '../../src/adapters/clock.ts'
import { openPostgresJournal } from '../../src/adapters/journal/postgres/postgres-journal.ts'
import { initCluster } from '../../src/adapters/journal/postgres/tables/init.ts'
import type { ListQuery, SessionSummary } from '../../src/ports/journal.ts'
import { PostgresServer } from '../../test/postgres/server.ts'
import { median, ms, quantile } from '../row.ts'

const SESSIONS = 100_000
const PAGE = 50
const TIMES = 50
/** Of the work of a team over months: one each two minutes, in a hundred directories. */
const MADE = `INSERT INTO SCHEMA.session (id, key, epoch, boot, base, last_seq, updated_at, touched, phase, cwd, info)
  SELECT 'session-' || n, n, 1, NULL, 0, 1, $2 - n * 120000, ($2 - n * 120000) / 65536, 'idle', '/work/project-' || n % 100,
    '{"directories":[],"agent":"guide","title":null,"createdAt":0}'
  FROM generate_series(1, $1::bigint) n`
const ENTERED = `INSERT INTO SCHEMA.entry (session, first, count, epoch, batch, at, body)
  SELECT key, 1, 1, 1, 1, updated_at, '{}' FROM SCHEMA.session`

export async function measureLists(share: number): Promise<readonly string[]> {
  const server = await PostgresServer.start()
  const place = { urls: [server.url], schema: server.schema() }
  await initCluster(place, systemClock.id())
  const sessions = SESSIONS * share
  await server.query(MADE.replaceAll('SCHEMA', place.schema), [sessions, Date.now()])
  await server.query(ENTERED.replaceAll('SCHEMA', place.schema))
  await server.query('ANALYZE')
  const given = { ...place, boot: systemClock.id(), unsafe: false, clock: systemClock }
  const journal = await openPostgresJournal({ ...given, report: (error) => console.error(error) })
  const list = (query: Partial<ListQuery>) => journal.list({ limit: PAGE, ...query })
  try {
    const first = await list({})
    const middle = await deep(list, sessions / 2)
    const rows = {
      'first page': await timed(() => list({})),
      'next page': await timed(() => list(afterLast(first))),
      'a page from the middle': await timed(() => list(afterLast(middle))),
      'first page of one directory': await timed(() => list({ cwd: '/work/project-7' })),
    }
    const shown = Object.entries(rows).map(
      ([what, times]) => `  ${what.padEnd(30)} p50 ${ms(median(times))}, p99 ${ms(quantile(times, 0.99))}`,
    )
    return [`\n${sessions.toLocaleString('en')} sessions in pages of ${PAGE}`, ...shown]
  } finally {
    await journal.close()
    await server.close()
  }
}

type List = (query: Partial<ListQuery>) => Promise<readonly SessionSummary[]>

/** The page that ends so many sessions from the newest one. */
async function deep(list: List, sessions: number): Promise<readonly SessionSummary[]> {
  return (await list({ limit: sessions })).slice(-PAGE)
}

function afterLast(page: readonly SessionSummary[]): Partial<ListQuery> {
  const last = page.at(-1)
  return last === undefined ? {} : { after: last }
}

async function timed(act: () => Promise<unknown>): Promise<readonly number[]> {
  const times: number[] = []
  for (let count = 0; count < TIMES; count += 1) {
    const begun = performance.now()
    await act()
    times.push(performance.now() - begun)
  }
  return times
}
