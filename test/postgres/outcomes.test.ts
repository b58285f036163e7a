/** What the journal of a cluster keeps although answers are lost, other processes claim sessions, and the database fails. */
import { type AddressInfo, connect, createServer } from 'node:net'
import { join } from 'node:path'
import { Client } from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { systemClock } from '../../src/adapters/clock.ts'
import { parseAddress } from '../../src/adapters/journal/postgres/connection/address.ts'
import { DatabaseConnection } from '../../src/adapters/journal/postgres/connection/connection.ts'
import { initCluster } from '../../src/adapters/journal/postgres/tables/init.ts'
import { type PostgresJournal, openPostgresJournal } from '../../src/adapters/journal/postgres/postgres-journal.ts'
import type { Clock } from '../../src/ports/clock.ts'
import type { StoredEntry } from '../../src/ports/journal.ts'
import { appendOf, entriesOf, wide } from '../contracts/journal-words.ts'
import { DatabaseProxy } from './proxy.ts'
import { PostgresServer } from './server.ts'

let server: PostgresServer
let proxy: DatabaseProxy
let schema: string
let journals: PostgresJournal[]

beforeAll(async () => {
  server = await PostgresServer.start()
})

afterAll(() => server.close())

beforeEach(async () => {
  schema = server.schema()
  journals = []
  proxy = await new DatabaseProxy(server.directory).open()
  await initCluster({ urls: [server.url], schema }, systemClock.id())
})

afterEach(async () => {
  await Promise.all(journals.map((journal) => journal.close()))
  await proxy.close()
})

/** A process of its own, as far as the database knows. */
async function open(url = server.url, clock: Clock = systemClock, boot = systemClock.id()): Promise<PostgresJournal> {
  return openWith({ url, clock, boot })
}

async function openWith({
  url = server.url,
  clock = systemClock,
  boot = systemClock.id(),
  isReplicated = false,
}): Promise<PostgresJournal> {
  const given = { urls: [url], schema, boot, unsafe: false, isReplicated }
  const journal = await openPostgresJournal({ ...given, clock, report: () => undefined })
  journals.push(journal)
  return journal
}

async function claim(journal: PostgresJournal, id: string): Promise<boolean> {
  return journal.claim(id, (await journal.owner(id))?.epoch ?? 0)
}

/** Appends wait until these rows are let go. */
async function holdSessions(): Promise<() => Promise<void>> {
  const locking = new Client({ connectionString: server.url })
  await locking.connect()
  await locking.query('BEGIN')
  await locking.query(`SELECT 1 FROM ${schema}.session FOR UPDATE`)
  return async () => {
    await locking.query('COMMIT')
    await locking.end()
  }
}

describe('an answer that is lost', () => {
  test('of an append that was stored: it is stored once, and the next follows it', async () => {
    const journal = await open(proxy.url)
    await journal.append(appendOf('s', 0, 1))
    proxy.loseAnswerTo('000002')
    await journal.append(appendOf('s', 1, 2))
    expect(proxy.lost).toBe(1)
    await journal.append(appendOf('s', 3, 1))
    expect(await journal.page('s', 0, wide)).toEqual(entriesOf('s', 0, 4))
  })

  test('of the making of a session: it is made once', async () => {
    const journal = await open(proxy.url)
    await journal.append(appendOf('other', 0, 1))
    proxy.loseAnswerTo('000001')
    await journal.append(appendOf('s', 0, 1))
    expect(proxy.lost).toBe(1)
    await journal.append(appendOf('s', 1, 1))
    expect(await journal.page('s', 0, wide)).toEqual(entriesOf('s', 0, 2))
  })

  test('of a group: each of them is stored once', async () => {
    const journal = await open(proxy.url)
    const ids = Array.from({ length: 20 }, (_, index) => `s${index}`)
    await Promise.all(ids.map((id) => journal.append(appendOf(id, 0, 1))))
    proxy.loseAnswerTo('000003')
    await Promise.all(ids.map((id) => journal.append(appendOf(id, 1, 2))))
    expect(proxy.lost).toBe(1)
    for (const id of ids) expect(await journal.page(id, 0, wide)).toEqual(entriesOf(id, 0, 3))
  })
})

test('a session is read while an append to it is on its way, and the next append follows', async () => {
  const journal = await open()
  await journal.append(appendOf('s', 0, 1))
  const letGo = await holdSessions()
  const append = journal.append(appendOf('s', 1, 1))
  const waiting = () => server.query("SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'")
  await expect.poll(waiting).toHaveLength(1)
  expect((await journal.head('s'))?.row.lastSeq).toBe(1)
  await letGo()
  await append
  await journal.append(appendOf('s', 2, 1))
})

test('an append that an operator cancels is sent again', async () => {
  const journal = await open()
  await journal.append(appendOf('s', 0, 1))
  const letGo = await holdSessions()
  const append = journal.append(appendOf('s', 1, 1))
  const cancelled = () =>
    server.query("SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event_type = 'Lock'")
  await expect.poll(cancelled).toHaveLength(1)
  await letGo()
  await append
  expect(await journal.page('s', 0, wide)).toEqual(entriesOf('s', 0, 2))
})

describe('a claim', () => {
  test('ends what the former owner may append, also to what it had read before', async () => {
    const [first, second] = [await open(), await open()]
    await first.append(appendOf('s', 0, 2))
    expect(await claim(second, 's')).toBe(true)
    await expect(first.append(appendOf('s', 2, 1))).rejects.toMatchObject({ code: 'JOURNAL_CONFLICT' })
    await second.append(appendOf('s', 2, 1))
    await expect(first.append(appendOf('s', 3, 1))).rejects.toMatchObject({ code: 'JOURNAL_CONFLICT' })
    expect(await first.page('s', 0, wide)).toEqual(entriesOf('s', 0, 3))
    await expect(first.delete('s')).rejects.toMatchObject({ code: 'JOURNAL_CONFLICT' })
  })

  test('of what was seen before another claimed it is refused', async () => {
    const [first, second, third] = [await open(), await open(), await open()]
    await first.append(appendOf('s', 0, 1))
    const both = await Promise.all([second.claim('s', 1), third.claim('s', 1)])
    expect(both.toSorted()).toEqual([false, true])
    expect(await first.claim('s', 1)).toBe(false)
  })

  test('without one nothing is appended to a session of another process', async () => {
    const [first, second] = [await open(), await open()]
    await first.append(appendOf('s', 0, 1))
    await expect(second.append(appendOf('s', 1, 1))).rejects.toMatchObject({ code: 'JOURNAL_CONFLICT' })
    await first.release('s')
    await expect(first.append(appendOf('s', 1, 1))).rejects.toMatchObject({ code: 'JOURNAL_CONFLICT' })
    expect(await claim(second, 's')).toBe(true)
    await second.append(appendOf('s', 1, 1))
  })

  test('that waited for an append knows of it', async () => {
    const [first, second] = [await open(), await open()]
    await first.append(appendOf('s', 0, 1))
    const letGo = await holdSessions()
    const waiting = async () =>
      (await server.query("SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'")).length
    const append = first.append(appendOf('s', 1, 1))
    await expect.poll(waiting).toBe(1)
    const claimed = second.claim('s', 1)
    await expect.poll(waiting).toBe(2)
    await letGo()
    await append
    expect(await claimed).toBe(true)
    await second.append(appendOf('s', 2, 1))
  })

  test('among appends: whatever was acknowledged is there, nothing of the former owner comes after it', async () => {
    const [first, second] = [await open(), await open()]
    for (let round = 0; round < 100; round += 1) {
      const id = `s${round}`
      await first.append(appendOf(id, 0, 1))
      const appending = appendUntilRefused(first, id)
      // A turn or two of the event loop, a different moment of the append each time.
      for (let turn = 0; turn < round % 7; turn += 1) await systemClock.nextTick()
      expect(await second.claim(id, 1)).toBe(true)
      const seen = (await second.head(id))?.row.lastSeq ?? 0
      const acknowledged = await appending
      expect(seen).toBeGreaterThanOrEqual(acknowledged)
      expect(await second.page(id, 0, wide)).toEqual(entriesOf(id, 0, seen))
    }
  })
})

/** How many entries were acknowledged before one was refused. */
async function appendUntilRefused(journal: PostgresJournal, id: string): Promise<number> {
  for (let seq = 1; ; seq += 1) {
    try {
      await journal.append(appendOf(id, seq, 1))
    } catch (error) {
      expect(error).toMatchObject({ code: 'JOURNAL_CONFLICT' })
      return seq
    }
  }
}

describe('a wait for a standby', () => {
  afterEach(async () => {
    await server.query('ALTER SYSTEM RESET synchronous_standby_names')
    await server.query('SELECT pg_reload_conf()')
  })

  test('that is cut short acknowledges nothing before the standby is back or not waited for any more', async () => {
    const journal = await open()
    await journal.append(appendOf('s', 0, 1))
    await server.waitForOneThatIsAway()
    let isStored = false
    const append = journal.append(appendOf('s', 1, 1)).then(() => (isStored = true))
    for (let cut = 0; cut < 3; cut += 1) await cutWait()
    expect(isStored).toBe(false)
    await server.query('ALTER SYSTEM RESET synchronous_standby_names')
    await server.query('SELECT pg_reload_conf()')
    await append
    expect(await journal.page('s', 0, wide)).toEqual(entriesOf('s', 0, 2))
  })

  test('that is cut short ends no delete before the standby is back or not waited for any more', async () => {
    const journal = await open()
    await journal.append(appendOf('s', 0, 1))
    await server.waitForOneThatIsAway()
    let isDeleted = false
    const deleted = journal.delete('s').then((existed) => (isDeleted = existed))
    for (let cut = 0; cut < 3; cut += 1) await cutWait()
    expect(isDeleted).toBe(false)
    await server.query('ALTER SYSTEM RESET synchronous_standby_names')
    await server.query('SELECT pg_reload_conf()')
    expect(await deleted).toBe(true)
  })

  test('that is given up, where replicas are asked for, acknowledges nothing until there is one again', async () => {
    const refused = { code: 'PG_TOO_WEAK', message: expect.stringContaining('is disk') as string }
    await expect(openWith({ isReplicated: true })).rejects.toMatchObject(refused)
    await server.waitForOneThatIsAway()
    const journal = await openWith({ isReplicated: true })
    let isStored = false
    const append = journal.append(appendOf('s', 0, 1)).then(() => (isStored = true))
    await expect.poll(() => server.query("SELECT 1 FROM pg_stat_activity WHERE wait_event = 'SyncRep'")).toHaveLength(1)
    // As a manager does whose standby is away: the server acknowledges what waited, without a word.
    await waitFor("''")
    await expect.poll(() => server.query(`SELECT 1 FROM ${schema}.entry`)).toHaveLength(1)
    // It is asked whether a standby is waited for, again and again.
    const asked = () => server.query("SELECT 1 FROM pg_stat_activity WHERE query LIKE '%SET touched = touched%'")
    await expect.poll(asked).not.toEqual([])
    expect(isStored).toBe(false)
    // It is on a standby that is there by now.
    const standby = await server.standby('near')
    await waitFor("'FIRST 1 (near)'")
    await append
    expect(await journal.page('s', 0, wide)).toEqual(entriesOf('s', 0, 1))
    await waitFor("''")
    await standby.close()
  })

  async function waitFor(names: string): Promise<void> {
    await server.query(`ALTER SYSTEM SET synchronous_standby_names = ${names}`)
    await server.query('SELECT pg_reload_conf()')
  }

  test('that is long loses no connection while the server answers', async () => {
    const journal = await open(proxy.url, hasty)
    await journal.append(appendOf('s', 0, 1))
    await server.waitForOneThatIsAway()
    const before = proxy.connections
    const append = journal.append(appendOf('s', 1, 1))
    // Each is a question whether the server answers.
    await expect.poll(() => proxy.connections - before).toBeGreaterThan(3)
    const waiting = await server.query("SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep'")
    expect(waiting).toHaveLength(1)
    await server.query('ALTER SYSTEM RESET synchronous_standby_names')
    await server.query('SELECT pg_reload_conf()')
    await append
  })

  /** The server answers what waits as stored then, with no more than a warning. */
  async function cutWait(): Promise<void> {
    const waiting = () => server.query("SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep'")
    await expect.poll(async () => (await waiting()).length).toBeGreaterThan(0)
    for (const { pid } of await waiting()) await server.query('SELECT pg_cancel_backend($1)', [pid])
  }
})

/** Its timers run at once. */
const hasty: Clock = {
  ...systemClock,
  setTimer: (_ms, run) => systemClock.setTimer(50, run),
}

describe('a draft', () => {
  test('that another node takes while it is written makes no session, and all of it is cleared away', async () => {
    const boot = systemClock.id()
    const [importing, serving] = [await open(server.url, systemClock, boot), await open()]
    async function* pieces(): AsyncIterable<readonly StoredEntry[]> {
      yield entriesOf('s', 0, 2)
      await serving.disown(boot)
      await expect.poll(() => server.query(`SELECT * FROM ${schema}.orphan`)).toEqual([])
      yield entriesOf('s', 2, 2)
    }
    const made = importing.importSession(pieces(), () => appendOf('s', 4, 1))
    await expect(made).rejects.toMatchObject({
      code: 'JOURNAL_IO',
      message: expect.stringContaining('try again') as string,
    })
    expect(await serving.head('s')).toBeUndefined()
    await serving.disown(boot)
    await expect.poll(() => server.query(`SELECT * FROM ${schema}.entry`)).toEqual([])
  })

  test('of a fork that another node takes, but has not cleared away yet, makes no session either', async () => {
    const journal = await open()
    await journal.append(appendOf('s', 0, 3))
    // What a node that takes over does, the moment the draft is there.
    await server.query(`CREATE FUNCTION ${schema}.take() RETURNS trigger LANGUAGE plpgsql AS
      'BEGIN NEW.boot := NULL; RETURN NEW; END'`)
    await server.query(`CREATE TRIGGER take BEFORE INSERT ON ${schema}.orphan
      FOR EACH ROW EXECUTE FUNCTION ${schema}.take()`)
    await expect(journal.fork('s', appendOf('t', 3, 1))).rejects.toMatchObject({ code: 'JOURNAL_IO' })
    expect(await journal.head('t')).toBeUndefined()
  })
})

describe('a database that fails', () => {
  test('in silence, as a machine without power does, loses the connection, and the append goes on', async () => {
    const journal = await open(proxy.url, hasty)
    await journal.append(appendOf('s', 0, 1))
    const before = proxy.connections
    proxy.isStalled = true
    const append = journal.append(appendOf('s', 1, 1))
    // The question whether the server answers, and the connection that is made anew.
    await expect.poll(() => proxy.connections - before).toBeGreaterThanOrEqual(2)
    proxy.isStalled = false
    await append
    expect(await journal.page('s', 0, wide)).toEqual(entriesOf('s', 0, 2))
  })

  test('and comes back: what was acknowledged is there, and appends go on', async () => {
    const journal = await open()
    await journal.append(appendOf('s', 0, 1))
    await server.stop('SIGQUIT')
    const append = journal.append(appendOf('s', 1, 1))
    await server.run()
    await append
    expect(await journal.page('s', 0, wide)).toEqual(entriesOf('s', 0, 2))
  })

  test('and has lost the end of a session names the session and appends nothing more', async () => {
    const journal = await open()
    await journal.append(appendOf('s', 0, 1))
    await journal.append(appendOf('s', 1, 1))
    await server.query(`DELETE FROM ${schema}.entry WHERE first = 2`)
    const lost = { code: 'JOURNAL_WENT_BACK', details: { session: 's', had: 2, found: 1 } }
    await expect(journal.append(appendOf('s', 2, 1))).rejects.toMatchObject(lost)
  })

  test('that is locked by another transaction for longer than a second is asked again', async () => {
    const journal = await open()
    await Promise.all(['s', 't'].map((id) => journal.append(appendOf(id, 0, 1))))
    const locked = server.query(
      `BEGIN; SELECT 1 FROM ${schema}.session WHERE id = 's' FOR UPDATE; SELECT pg_sleep(1.5); COMMIT`,
    )
    await Promise.all([...['s', 't'].map((id) => journal.append(appendOf(id, 1, 1))), locked])
    for (const id of ['s', 't']) expect(await journal.page(id, 0, wide)).toEqual(entriesOf(id, 0, 2))
  })
})

test('behind a pooler, which gives each statement to another connection of the server, plans are not kept', async () => {
  const address = parseAddress(server.url)
  const connection = new DatabaseConnection({ address, clock: systemClock, connected: () => undefined })
  const sum = { name: 'sum', text: 'SELECT $1::int + 1' }
  const summed = async () => (await connection.query(sum, [1])).rows
  expect(await summed()).toEqual([['2']])
  // Of the same name is what has the same text: another version of Parley may have used the connection before.
  expect((await connection.query({ ...sum, text: 'SELECT $1::int + 2' }, [1])).rows).toEqual([['3']])
  // As if another connection of the server answered from now on.
  await connection.query({ name: 'gone', text: 'DEALLOCATE ALL' }, [])
  expect(await summed()).toEqual([['2']])
  expect(await summed()).toEqual([['2']])
  await connection.close()
})

test('a role that may read and write rows, and nothing else, suffices to serve', async () => {
  await server.query('CREATE ROLE node LOGIN')
  await server.query(`GRANT USAGE ON SCHEMA ${schema} TO node`)
  await server.query(`GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${schema} TO node`)
  const journal = await open(server.url.replace('parley@', 'node@'))
  await journal.append(appendOf('s', 0, 1))
  expect(await claim(journal, 's')).toBe(true)
  await journal.append(appendOf('s', 1, 1))
  expect(await journal.page('s', 0, wide)).toEqual(entriesOf('s', 0, 2))
  expect(await journal.delete('s')).toBe(true)
})

describe('is refused', () => {
  test('a server that loses what it acknowledges', async () => {
    const loose = await PostgresServer.start(['synchronous_commit=off'])
    try {
      await initCluster({ urls: [loose.url], schema }, systemClock.id())
      const refused = { code: 'PG_UNSAFE', message: expect.stringContaining('synchronous_commit is off') as string }
      await expect(open(loose.url)).rejects.toMatchObject(refused)
    } finally {
      await loose.close()
    }
  })

  test('a schema without a cluster, one of a newer Parley, and another place than it was made for', async () => {
    const made = schema
    schema = server.schema()
    await expect(open()).rejects.toMatchObject({ code: 'CLUSTER_ABSENT' })
    schema = made
    await server.query(`UPDATE ${schema}.meta SET value = '2' WHERE name = 'shards'`)
    await expect(open()).rejects.toMatchObject({ code: 'CLUSTER_FOREIGN' })
    await server.query(`UPDATE ${schema}.meta SET value = '99' WHERE name = 'layout'`)
    await expect(open()).rejects.toMatchObject({ code: 'JOURNAL_TOO_NEW', details: { found: 99 } })
  })

  test('an address where no server is, without its password in the sentence', async () => {
    const error: unknown = await open('postgres://parley:hush@127.0.0.1:1/parley').catch((one: unknown) => one)
    expect(error).toMatchObject({ code: 'CLUSTER_UNREACHABLE' })
    expect(String(error)).not.toContain('hush')
  })
})

test('the first host that takes writes is used, whichever it is, also to make the tables', async () => {
  const forward = createServer((client) => {
    const database = connect(join(server.directory, '.s.PGSQL.5432'))
    client.pipe(database).pipe(client)
    client.on('error', () => database.destroy())
    database.on('error', () => client.destroy())
  })
  await new Promise<void>((resolve) => forward.listen(0, '127.0.0.1', resolve))
  const { port } = forward.address() as AddressInfo
  const url = `postgres://parley@127.0.0.1:1,127.0.0.1:${port}/postgres`
  await initCluster({ urls: [url], schema }, systemClock.id())
  expect(await server.query('SELECT setconfig FROM pg_db_role_setting')).toEqual([])
  const journal = await open(url)
  await journal.append(appendOf('s', 0, 1))
  await journal.close()
  await new Promise((resolve) => forward.close(resolve))
})
