/** The journal on a real PostgreSQL keeps the port's promises, with one database and with three. */
import { afterAll, beforeAll, describe } from 'vitest'
import { systemClock } from '../../src/adapters/clock.ts'
import { initCluster } from '../../src/adapters/journal/postgres/tables/init.ts'
import { type PostgresJournal, openPostgresJournal } from '../../src/adapters/journal/postgres/postgres-journal.ts'
import { journalImportContract } from '../contracts/journal-import.ts'
import { journalContract } from '../contracts/journal.ts'
import { PostgresServer } from './server.ts'

let server: PostgresServer

beforeAll(async () => {
  server = await PostgresServer.start(['fsync=off', 'full_page_writes=off'])
  for (const name of three) await server.query(`CREATE DATABASE ${name}`)
})

afterAll(() => server.close())

const three = ['first', 'second', 'third']

/** A cluster of its own in the databases of the server: a schema of its own in each. */
async function opened(databases: readonly string[]): Promise<{ journal: PostgresJournal; clear: () => Promise<void> }> {
  const schema = server.schema()
  const urls = databases.map((name) => server.urlOf(name))
  await initCluster({ urls, schema }, systemClock.id())
  const given = { urls, schema, boot: systemClock.id(), unsafe: true }
  const journal = await openPostgresJournal({ ...given, clock: systemClock, report: (error) => console.error(error) })
  return { journal, clear: () => Promise.resolve() }
}

describe('one database', () => {
  journalContract(() => opened(['postgres']))
  journalImportContract(() => opened(['postgres']))
})

describe('three databases', () => {
  journalContract(() => opened(three))
  journalImportContract(() => opened(three))
})

describe('transactions that are isolated from each other', () => {
  beforeAll(() => server.query("ALTER DATABASE postgres SET default_transaction_isolation = 'repeatable read'"))
  afterAll(() => server.query('ALTER DATABASE postgres RESET default_transaction_isolation'))
  journalContract(() => opened(['postgres']))
})
