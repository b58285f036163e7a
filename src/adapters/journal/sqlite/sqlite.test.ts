/** The SQLite journal keeps the port's promises, and those of a disk. */
import { randomBytes } from 'node:crypto'
import { copyFile, mkdir, readFile, readdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { BroadcastChannel, Worker } from 'node:worker_threads'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { journalContract } from '../../../../test/contracts/journal.ts'
import { appendOf, entriesOf, everything, following, idsOf, wide } from '../../../../test/contracts/journal-words.ts'
import { startOwner, startProgram, temporaryDirectory, workerUrl } from '../../../../test/fixtures/journal/places.ts'
import type { Append } from '../../../ports/journal.ts'
import { openDatabase } from '../../../sqlite/database.ts'
import { offerWorker } from '../../../threads/early-worker.ts'
import { openJournalSource } from './file/source.ts'
import { openSqliteJournal, openSqliteReader } from './sqlite-journal.ts'

describe('sqlite journal', () => {
  journalContract(async () => {
    const { directory, clear } = await temporaryDirectory()
    return { journal: await openSqliteJournal({ directory, workerUrl }), clear }
  })
})

let directory: string
let clear: () => Promise<void>

beforeEach(async () => {
  const temporary = await temporaryDirectory()
  directory = join(temporary.directory, 'state')
  clear = temporary.clear
})

afterEach(() => clear())

test('a journal that is closed and opened again has everything', async () => {
  const first = await openSqliteJournal({ directory, workerUrl })
  await first.append(appendOf('s', 0, { count: 300, snapshot: { seq: 200, state: '{"a":1}' }, row: { title: 'Kept' } }))
  await first.append(appendOf('t', 0, 2))
  const before = await everything(first, 's')
  await first.close()
  const second = await openSqliteJournal({ directory, workerUrl })
  expect(await everything(second, 's')).toEqual(before)
  expect(idsOf(await second.list({ limit: 9 }))).toEqual(['s', 't'])
  await second.append(appendOf('s', 300, 1))
  await second.close()
})

test('a thread that was started before its state was known opens the journal', async () => {
  const worker = new Worker(workerUrl, { execArgv: [] })
  const { threadId } = worker
  offerWorker({ url: workerUrl, worker, hasEnded: false })
  const journal = await openSqliteJournal({ directory, workerUrl })
  await journal.append(appendOf('s', 0, 3))
  expect(await journal.head('s')).toMatchObject({ row: { lastSeq: 3 } })
  await journal.close()
  expect([threadId > 0, worker.threadId]).toEqual([true, -1])
})

test('only its owner may read the files, and a closed journal is one file', async () => {
  const journal = await openSqliteJournal({ directory, workerUrl })
  await journal.append(appendOf('s', 0, 10))
  expect((await stat(directory)).mode & 0o777).toBe(0o700)
  const names = await readdir(directory)
  expect(names.toSorted()).toEqual(['journal.db', 'journal.db-shm', 'journal.db-wal', 'server.lock', 'server.pid'])
  for (const name of names) expect([name, (await stat(join(directory, name))).mode & 0o777]).toEqual([name, 0o600])
  await journal.close()
  expect((await readdir(directory)).toSorted()).toEqual(['journal.db', 'server.lock'])
})

test('an idle journal empties its WAL, unless a reader uses it', async () => {
  const wal = join(directory, 'journal.db-wal')
  const bytes = async () => (await stat(wal)).size
  const journal = await openSqliteJournal({ directory, workerUrl, idleMs: 1 })
  await journal.append(appendOf('s', 0, 300))
  await expect.poll(bytes).toBe(0)
  const reader = openDatabase(join(directory, 'journal.db'), { readOnly: true })
  reader.exec('BEGIN')
  reader.prepare('SELECT seq FROM entries').get()
  await journal.append(appendOf('s', 300, 300))
  const before = await everything(journal, 's')
  expect(await bytes()).toBeGreaterThan(0)
  reader.exec('COMMIT')
  reader.close()
  await expect.poll(bytes).toBe(0)
  expect(await everything(journal, 's')).toEqual(before)
  await journal.append(appendOf('s', 600, 1))
  await journal.close()
})

test('an append in a turn writes one page, and the session row once a second; readers still see the current state', async () => {
  const path = join(directory, 'journal.db')
  const inTurn = { phase: 'working' } as const
  const journal = await openSqliteJournal({ directory, workerUrl })
  await journal.append(appendOf('s', 0, { count: 1, row: inTurn }))
  for (const seq of [1, 2, 3]) {
    const before = await pagesIn(`${path}-wal`)
    await journal.append(appendOf('s', seq, { count: 1, row: inTurn }))
    expect((await pagesIn(`${path}-wal`)) - before).toBe(1)
  }
  const db = openDatabase(path, { readOnly: true })
  const row = () => db.prepare('SELECT last_seq AS seq FROM sessions').get()
  expect(row()).toEqual({ seq: 1 })
  const reader = await openSqliteReader({ directory, workerUrl })
  const now = appendOf('s', 3, { count: 1, row: inTurn }).row
  for (const one of [journal, reader])
    expect([(await one.head('s'))?.row, await one.list({ limit: 1 })]).toEqual([now, [now]])
  const source = openJournalSource(directory)
  for (const heads of [source.heads(), [source.head('s')]]) expect(heads).toMatchObject([{ id: 's', lastSeq: 4 }])
  source.close()
  await journal.append(appendOf('s', 4, { count: 1, row: { ...inTurn, title: 'Named' } }))
  expect(row()).toEqual({ seq: 5 })
  await journal.append(appendOf('s', 5, { count: 1_100, row: inTurn }))
  expect(row()).toEqual({ seq: 1_105 })
  expect(await reader.check()).toEqual([])
  db.close()
  await Promise.all([journal.close(), reader.close()])
})

/** Those that SQLite has written: they begin with the salt of the log's header. */
async function pagesIn(wal: string): Promise<number> {
  const bytes = await readFile(wal)
  const salt = bytes.subarray(16, 24)
  const saltOf = (page: number) => bytes.subarray(40 + page * 4120, 48 + page * 4120)
  let pages = 0
  while (saltOf(pages).equals(salt)) pages += 1
  return pages
}

test('commits make the WAL no longer: the room after them is there already, and no reader takes it for entries', async () => {
  const path = join(directory, 'journal.db')
  const bytes = async () => (await stat(`${path}-wal`)).size
  const journal = await openSqliteJournal({ directory, workerUrl, idleMs: 600_000 })
  let last = 0
  const append = async () => {
    await journal.append(appendOf('s', last, { count: 1, row: { phase: 'working' } }))
    last += 1
  }
  while ((await bytes()) < 256 * 1024) await append()
  await expect.poll(bytes).toBeGreaterThan(300 * 1024)
  // Its answer comes after the thread has made the WAL longer.
  await append()
  const before = await bytes()
  for (let more = 0; more < 3; more += 1) await append()
  expect(await bytes()).toBe(before)
  const stored = await everything(journal, 's')
  const reader = await openSqliteReader({ directory, workerUrl })
  expect(await everything(reader, 's')).toEqual(stored)
  await reader.close()
  // As a kill leaves it.
  const { directory: other, clear: clearOther } = await temporaryDirectory()
  for (const name of ['journal.db', 'journal.db-wal']) await copyFile(join(directory, name), join(other, name))
  await journal.close()
  const next = await openSqliteJournal({ directory: other, workerUrl })
  expect(await everything(next, 's')).toEqual(stored)
  await next.append(appendOf('s', last, 1))
  await next.close()
  await clearOther()
})

test('a journal that a power loss left unfinished is created again', async () => {
  const journal = await openSqliteJournal({ directory, workerUrl })
  await journal.close()
  const { directory: other, clear: clearOther } = await temporaryDirectory()
  await writeFile(join(other, 'journal.db.new'), 'half a file')
  await writeFile(join(other, 'journal.db.new-journal'), 'half a rollback journal')
  const remade = await openSqliteJournal({ directory: other, workerUrl })
  await remade.append(appendOf('s', 0, 1))
  await remade.close()
  expect((await readdir(other)).toSorted()).toEqual(['journal.db', 'server.lock'])
  await clearOther()
})

test('the entries of a deleted session are removed, if necessary by the next owner', async () => {
  const first = await openSqliteJournal({ directory, workerUrl })
  for (let seq = 0; seq < 50_000; seq += 10_000) await first.append(appendOf('s', seq, 10_000))
  await first.append(appendOf('other', 0, 5))
  const [deleted] = await Promise.all([first.delete('s'), first.close()])
  expect(deleted).toBe(true)
  const second = await openSqliteJournal({ directory, workerUrl })
  await second.close()
  // Space is given back to the file, not to the disk: the same again does not make it grow.
  const { size } = await stat(join(directory, 'journal.db'))
  const third = await openSqliteJournal({ directory, workerUrl })
  await third.list({ limit: 1 })
  for (let seq = 0; seq < 50_000; seq += 10_000) await third.append(appendOf('s', seq, 10_000))
  await third.close()
  expect((await stat(join(directory, 'journal.db'))).size).toBeLessThan(size * 1.5)
})

describe('a group of appends', () => {
  const group = ['a', 'b', 'c']

  test('whose transaction fails is refused as a whole, with nothing changed', async () => {
    const faults = [{ point: 'journal.rows.written', action: 'throw', nth: 2 }] as const
    const journal = await openSqliteJournal({ directory, workerUrl, faults })
    await journal.append(appendOf('a', 0, 2))
    const failed = await Promise.allSettled(group.map((id) => journal.append(appendOf(id, id === 'a' ? 2 : 0, 2))))
    expect(failed.map((one) => one.status === 'rejected' && (one.reason as { code?: string }).code)).toEqual(
      group.map(() => 'JOURNAL_IO'),
    )
    expect(idsOf(await journal.list({ limit: 9 }))).toEqual(['a'])
    expect(await journal.page('a', 0, wide)).toEqual(entriesOf('a', 0, 2))
    await Promise.all(group.map((id) => journal.append(appendOf(id, id === 'a' ? 2 : 0, 2))))
    await journal.close()
  })

  test('is not visible before it is committed, however slow the disk', async () => {
    const faults = [{ point: 'journal.rows.written', action: 'delay', nth: 2, ms: 150 }] as const
    const journal = await openSqliteJournal({ directory, workerUrl, faults })
    await journal.append(appendOf('s', 0, 1))
    const seen = following(journal, 's')
    await seen.until(1)
    const order: string[] = []
    const append = journal.append(appendOf('s', 1, 1)).then(() => order.push('stored'))
    const reader = seen.until(2).then(() => order.push('seen'))
    await Promise.all([append, reader])
    expect(order).toEqual(['stored', 'seen'])
    await journal.delete('s')
    await journal.close()
  })
})

test('a read does not wait for the whole queue of writes, and has every entry stored before it', async () => {
  const journal = await openSqliteJournal({ directory, workerUrl })
  await journal.append(appendOf('s', 0, 5))
  const order: string[] = []
  const writes = Array.from({ length: 40 }, (_, index) =>
    journal.append(unlike(appendOf(`bulk-${index}`, 0, 2_000))).then(() => order.push('write')),
  )
  const reads = Array.from({ length: 20 }, () =>
    journal.page('s', 0, wide).then((page) => order.push(`read ${page.length}`)),
  )
  await Promise.all([...writes, ...reads])
  // The first reads are answered before any write, all of them before the last; and writes go on meanwhile.
  expect(order.indexOf('write')).toBeGreaterThan(0)
  expect(order.indexOf('write')).toBeLessThan(order.lastIndexOf('read 5'))
  expect(order.at(-1)).toBe('write')
  expect(order.filter((one) => one === 'read 5')).toHaveLength(20)
  await journal.close()
})

/** The same append of entries that have little in common, so that each takes its own room. */
function unlike(append: Append): Append {
  return {
    ...append,
    entries: append.entries.map((entry) => ({ ...entry, body: `"${randomBytes(250).toString('hex')}"` })),
  }
}

test('an append that was sent before its sender failed is stored', async () => {
  const faults = [{ point: 'journal.append.sent', action: 'throw', nth: 1 }] as const
  const journal = await openSqliteJournal({ directory, workerUrl, faults })
  await expect(journal.append(appendOf('s', 0, 2))).rejects.toThrow('journal.append.sent')
  expect((await journal.head('s'))?.row.lastSeq).toBe(2)
  await journal.close()
})

test('a full disk refuses an append and keeps what was stored', async () => {
  await mkdir(directory)
  // In a mount namespace of its own, so that any user may have a disk of 4 MB.
  const mount = `mount -t tmpfs -o size=4m,mode=0700 tmpfs '${directory}' && exec "$@"`
  const before = ['unshare', '--map-root-user', '--mount', 'sh', '-c', mount, 'sh']
  const program = startProgram('full-disk', { directory, worker: workerUrl.href }, before)
  const { value } = await program.lines.next()
  expect(value).toEqual({
    big: 'JOURNAL_FULL',
    small: 'stored',
    full: 'JOURNAL_FULL',
    whileFull: true,
    afterwards: 'stored',
    kept: true,
    snapshot: { seq: 100, state: 'kept' },
    sessions: ['kept', 'small'],
  })
  await program.ended
})

test('a failed write is reported as JOURNAL_IO, and acknowledged entries are stored', async () => {
  const owner = startOwner({ directory, program: 'append' }, 'ulimit -f 400')
  const stored = new Map<string, number>()
  let refused: unknown
  for await (const line of owner.lines) {
    if (line.said === 'acknowledged') stored.set(line.session, line.seq)
    if (line.said === 'refused') refused = line
  }
  expect(refused).toMatchObject({ code: 'JOURNAL_IO', message: expect.stringContaining('disk I/O error') as string })
  expect(stored.size).toBe(2)
  const journal = await openSqliteJournal({ directory, workerUrl })
  for (const [id, seq] of stored) expect((await journal.page(id, 0, wide)).length).toBeGreaterThanOrEqual(seq)
  await journal.close()
})

test('a state directory that cannot be created is reported as JOURNAL_IO', async () => {
  await writeFile(directory, 'a file where the directory should be')
  await expect(openSqliteJournal({ directory, workerUrl })).rejects.toMatchObject({ code: 'JOURNAL_IO' })
})

test('a worker thread that dies fails its open and all later requests, and frees the lock', async () => {
  const dying = new URL('../../../../test/fixtures/journal/dying-worker.mjs', import.meta.url)
  const faults = [{ point: 'journal.rows.written', action: 'delay', nth: 2, ms: 60_000 }] as const
  const journal = await openSqliteJournal({ directory, workerUrl: dying, faults })
  await journal.append(appendOf('s', 0, 2))
  const reader = following(journal, 's')
  await reader.until(2)
  const both = Promise.allSettled([journal.append(appendOf('s', 2, 1)), journal.append(appendOf('t', 0, 1))])
  const channel = new BroadcastChannel('parley journal: die')
  channel.postMessage('now')
  const refused = { code: 'JOURNAL_IO', message: expect.stringContaining('ended with code 7') as string }
  for (const one of await both) expect(one).toMatchObject({ status: 'rejected', reason: refused })
  channel.close()
  await expect(journal.head('s')).rejects.toMatchObject(refused)
  await expect(reader.ended).rejects.toMatchObject(refused)
  await journal.close()
  const next = await openSqliteJournal({ directory, workerUrl })
  expect(await next.page('s', 0, wide)).toEqual(entriesOf('s', 0, 2))
  await next.close()
})

test('what another program has written to a session that works is noticed by its next append', async () => {
  const journal = await openSqliteJournal({ directory, workerUrl })
  const row = { phase: 'working' } as const
  for (const seq of [0, 1, 2]) await journal.append(appendOf('s', seq, { count: 1, row }))
  const other = openDatabase(join(directory, 'journal.db'), {})
  other.exec("INSERT INTO entries (session, seq, at, count, body) SELECT session, 4, at, 1, '{}' FROM entries LIMIT 1")
  other.close()
  await expect(journal.append(appendOf('s', 3, { count: 1, row }))).rejects.toMatchObject({
    code: 'JOURNAL_CONFLICT',
    details: { found: 4 },
  })
  await journal.close()
})
