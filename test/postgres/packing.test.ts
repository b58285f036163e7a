/** What is streamed word by word is packed behind the appends, and nothing that is read, claimed, forked or late notices. */
import { Client } from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { systemClock } from '../../src/adapters/clock.ts'
import { type PostgresJournal, openPostgresJournal } from '../../src/adapters/journal/postgres/postgres-journal.ts'
import { initCluster } from '../../src/adapters/journal/postgres/tables/init.ts'
import { statementsOf } from '../../src/adapters/journal/postgres/tables/statements.ts'
import { appendOf, entriesOf, wide } from '../contracts/journal-words.ts'
import { PerTest } from '../fixtures/process/per-test.ts'
import { PostgresServer } from './server.ts'

let server: PostgresServer
let schema: string

beforeAll(async () => {
  server = await PostgresServer.start()
})

afterAll(() => server.close())

beforeEach(async () => {
  schema = server.schema()
  await initCluster({ urls: [server.url], schema }, systemClock.id())
})

const journals = new PerTest<PostgresJournal>(async (opened) => {
  for (const journal of opened) await journal.close()
})
journals.closeAfterEach()

async function open(): Promise<PostgresJournal> {
  const given = { urls: [server.url], schema, boot: systemClock.id(), unsafe: false }
  const journal = await openPostgresJournal({
    ...given,
    clock: systemClock,
    report: (error) => expect.fail(String(error)),
  })
  journals.add(journal)
  return journal
}

/** One row each, as the words of an agent come. */
async function streamed(journal: PostgresJournal, id: string, until: number): Promise<void> {
  for (let seq = 0; seq < until; seq += 1) {
    const { row, ...append } = appendOf(id, seq, 1)
    await journal.append({ ...append, row: { ...row, phase: 'working' } })
  }
}

const rows = async () =>
  (await server.query(`SELECT first, count FROM ${schema}.entry ORDER BY first`)).map(Object.values)

test('many small rows become one, while others follow, and the last ones when the session rests', async () => {
  const journal = await open()
  await streamed(journal, 's', 600)
  // The first one made the session.
  const packed = [
    ['1', 1],
    ['2', 256],
    ['258', 256],
  ]
  await expect.poll(async () => (await rows()).slice(0, 3)).toEqual(packed)
  expect(await journal.page('s', 0, wide)).toEqual(entriesOf('s', 0, 600))
  expect(await journal.page('s', 200, { entries: 100, chars: Infinity })).toEqual(entriesOf('s', 200, 100))
  await journal.append(appendOf('s', 600, 1))
  await expect.poll(rows).toEqual([...packed, ['514', 88]])
  expect((await journal.head('s'))?.row.lastSeq).toBe(601)
  await journal.append(appendOf('s', 601, 1))
  const other = await open()
  expect(await other.claim('s', 1)).toBe(true)
  await other.append(appendOf('s', 602, 1))
  expect(await other.page('s', 0, wide)).toEqual(entriesOf('s', 0, 603))
})

test('nothing is packed of a session that another process has claimed', async () => {
  const [first, second] = [await open(), await open()]
  await streamed(first, 's', 20)
  expect(await second.claim('s', 1)).toBe(true)
  await expect(first.append(appendOf('s', 20, 1))).rejects.toMatchObject({ code: 'JOURNAL_CONFLICT' })
  await pack(1, [0, 20])
  expect(await rows()).toHaveLength(20)
  await pack(2, [0, 20])
  expect(await rows()).toHaveLength(1)
})

describe('an append whose first attempt comes late', () => {
  test('is refused by the row that its second attempt has made', async () => {
    expect(await late(() => Promise.resolve())).toMatchObject({ code: '23505' })
    expect(await rows()).toHaveLength(4)
  })

  test('is refused where that row was packed with others', async () => {
    expect(await late((packing) => pack(1, [0, 4], packing))).toMatchObject({ rows: [] })
    expect(await rows()).toEqual([['1', 4]])
  })

  /** It waits for the lock of its session while the second attempt and one more append are stored, and `then` happens. */
  async function late(then: (connection: Client) => Promise<void>): Promise<unknown> {
    const journal = await open()
    await streamed(journal, 's', 2)
    const [{ key } = {}] = await server.query(`SELECT key FROM ${schema}.session`)
    const [first, second] = [await connected(), await connected()]
    try {
      await second.query('BEGIN')
      await second.query(`SELECT 1 FROM ${schema}.session FOR UPDATE`)
      const text = '1 1\nlate'
      const values = [key, 2, 3, 1, 3, 1, text, null, 1, 1, null, null, null, null].map((value) => [value])
      const answer = first.query(statementsOf(schema).append.text, values).catch((error: unknown) => error)
      const waiting = () => server.query(`SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'`)
      await expect.poll(waiting).toHaveLength(1)
      const rowsOf = `INSERT INTO ${schema}.entry VALUES ($1, 3, 1, 1, 3, 1, $2), ($1, 4, 1, 1, 4, 1, $2)`
      await second.query(rowsOf, [key, text])
      await then(second)
      await second.query('COMMIT')
      return await answer
    } finally {
      await Promise.all([first.end(), second.end()])
    }
  }
})

test('a copy that was under way goes on in the middle of a row that was packed meanwhile', async () => {
  const journal = await open()
  await streamed(journal, 's', 20)
  await pack(1, [5, 15])
  const [{ key } = {}] = await server.query(`SELECT key FROM ${schema}.session`)
  const copy = async (draft: number, from: number) =>
    Object.values((await server.query(statementsOf(schema).copy.text, [key, draft, from, 20]))[0] ?? {})
  expect(await copy(1, 15)).toEqual(['20'])
  expect(await copy(2, 10)).toEqual([null])
  await journal.fork('s', appendOf('t', 12, 1))
  expect(await journal.page('t', 0, wide)).toEqual([...entriesOf('s', 0, 12), ...entriesOf('t', 12, 1)])
})

/** As the owner of that epoch does it. */
async function pack(epoch: number, [from, until]: readonly [number, number], connection?: Client): Promise<void> {
  const client = connection ?? (await connected())
  const [{ key } = {}] = (await client.query<{ readonly key: string }>(`SELECT key FROM ${schema}.session`)).rows
  const body = entriesOf('s', from, until - from).map(({ at, body: text }) => `1 ${at}\n${text}`)
  await client.query(statementsOf(schema).pack.text, [key, epoch, from, until, 1, body.join('\n')])
  if (connection === undefined) await client.end()
}

async function connected(): Promise<Client> {
  const client = new Client({ connectionString: server.url })
  await client.connect()
  return client
}
