/** A file that is not a sound journal of a known format is refused by name and left exactly as it was. */
import { randomBytes } from 'node:crypto'
import { copyFile, open, readdir, readFile, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { appendOf } from '../../../../test/contracts/journal-words.ts'
import { temporaryDirectory, workerUrl } from '../../../../test/fixtures/journal/places.ts'
import { openSqliteJournal, openSqliteReader } from './sqlite-journal.ts'

let directory: string
let path: string
let clear: () => Promise<void>

beforeEach(async () => {
  ;({ directory, clear } = await temporaryDirectory())
  path = join(directory, 'journal.db')
})

afterEach(() => clear())

describe('a damaged journal', () => {
  beforeEach(async () => {
    const journal = await openSqliteJournal({ directory, workerUrl })
    for (let seq = 0; seq < 2000; seq += 1000) await journal.append(appendOf('s', seq, 1000))
    await journal.close()
  })

  test('whose first block was lost', async () => {
    await overwrite(0, Buffer.alloc(4096))
    await expectRefused('JOURNAL_CORRUPT', 'damaged')
  })

  test('whose header is garbage but for Parley’s application id', async () => {
    await overwrite(0, randomBytes(60))
    await expectRefused('JOURNAL_CORRUPT', 'damaged')
  })

  test('that ends too early', async () => {
    await truncate(path, 3 * 4096)
    await expectRefused('JOURNAL_CORRUPT', 'malformed')
  })

  test('that ends in its header', async () => {
    await truncate(path, 90)
    await expectRefused('JOURNAL_CORRUPT', 'damaged')
  })

  test('that is empty', async () => {
    await truncate(path, 0)
    await expectRefused('JOURNAL_CORRUPT', 'empty')
  })

  test('whose list of tables is garbage', async () => {
    await overwrite(100, randomBytes(3000))
    await expectRefused('JOURNAL_CORRUPT', 'damaged')
  })

  test('whose pages behind the first are garbage', async () => {
    await overwrite(4096, randomBytes(20 * 4096))
    await expectRefused('JOURNAL_CORRUPT', 'damaged')
  })
})

test('a journal that is gone while its WAL is still there', async () => {
  await writeFile(`${path}-wal`, 'what was not written back')
  const before = await contents(directory)
  await expect(openSqliteJournal({ directory, workerUrl })).rejects.toMatchObject({ code: 'JOURNAL_CORRUPT' })
  expect(await contents(directory)).toEqual(before)
})

test('a damaged page is reported when it is read; other sessions can be read', async () => {
  const journal = await openSqliteJournal({ directory, workerUrl })
  for (const id of ['a', 'b', 'c'])
    for (let seq = 0; seq < 3000; seq += 500) await journal.append(appendOf(id, seq, 500))
  await journal.close()
  await overwrite(await leafOf('"id":"b"', '001500'), randomBytes(4096))
  const damaged = await openSqliteJournal({ directory, workerUrl })
  const wide = { entries: 1e6, chars: 1e9 }
  await expect(damaged.page('b', 0, wide)).rejects.toMatchObject({ code: 'JOURNAL_CORRUPT' })
  expect(await damaged.page('a', 0, wide)).toHaveLength(3000)
  expect(await damaged.page('c', 0, wide)).toHaveLength(3000)
  await Promise.all([damaged.append(appendOf('a', 3000, 1)), damaged.append(appendOf('c', 3000, 1))])
  await damaged.close()
})

describe('a file that is not Parley’s', () => {
  test('that is not a database', async () => {
    await writeFile(path, 'Dear diary, '.repeat(1000))
    await expectRefused('JOURNAL_FOREIGN', 'not a Parley journal')
  })

  test('that is too short to be one', async () => {
    await writeFile(path, 'x')
    await expectRefused('JOURNAL_FOREIGN', 'not a Parley journal')
  })

  test.each(['DELETE', 'WAL'])('that is the database of another program (%s)', async (mode) => {
    makeDatabase(`PRAGMA journal_mode = ${mode}; CREATE TABLE recipes (name); INSERT INTO recipes VALUES ('soup')`)
    await expectRefused('JOURNAL_FOREIGN', 'not a Parley journal')
  })

  test('that is the database of another program and says so', async () => {
    makeDatabase('PRAGMA application_id = 1234; PRAGMA user_version = 1')
    await expectRefused('JOURNAL_FOREIGN', 'not a Parley journal')
  })
})

test('a journal of a development version, before format 1', async () => {
  const journal = await openSqliteJournal({ directory, workerUrl })
  await journal.append(appendOf('s', 0, 1))
  await journal.close()
  makeDatabase('PRAGMA application_id = 1349676153')
  await expectRefused('JOURNAL_TOO_OLD', 'before journal format 1')
})

test('a journal of a newer Parley', async () => {
  const journal = await openSqliteJournal({ directory, workerUrl })
  await journal.append(appendOf('s', 0, 1))
  await journal.close()
  makeDatabase('PRAGMA user_version = 99')
  await expectRefused('JOURNAL_TOO_NEW', 'format 99')
})

test('a journal that a newer Parley changed keeps its WAL', async () => {
  const journal = await openSqliteJournal({ directory, workerUrl })
  await journal.append(appendOf('s', 0, 1))
  await journal.close()
  const killed = await temporaryDirectory()
  const db = new DatabaseSync(path)
  db.exec('PRAGMA user_version = 99')
  for (const name of ['journal.db', 'journal.db-wal'])
    await copyFile(join(directory, name), join(killed.directory, name))
  db.close()
  const before = await contents(killed.directory)
  await expect(openSqliteJournal({ directory: killed.directory, workerUrl })).rejects.toMatchObject({
    code: 'JOURNAL_TOO_NEW',
    details: { found: 99, known: 3 },
  })
  expect(await contents(killed.directory)).toEqual(before)
  await killed.clear()
})

function makeDatabase(sql: string): void {
  const db = new DatabaseSync(path)
  db.exec(sql)
  db.close()
}

async function overwrite(position: number, bytes: Buffer): Promise<void> {
  const file = await open(path, 'r+')
  await file.write(bytes, 0, bytes.length, position)
  await file.close()
}

/** Where in the file a leaf of the tree of entries stands that holds all of these texts. */
async function leafOf(...texts: readonly string[]): Promise<number> {
  const file = await readFile(path)
  for (let position = 0; position < file.length; position += 4096) {
    const page = file.subarray(position, position + 4096)
    if (page[0] === 0x0a && texts.every((text) => page.includes(text))) return position
  }
  throw new Error(`no leaf holds ${texts.join(' and ')}`)
}

/** Refused to an owner and to a reader; every byte and every name in the directory stays, and the lock is free again. */
async function expectRefused(code: string, words: string): Promise<void> {
  const before = await contents(directory)
  const refused = { code, message: expect.stringContaining(words) as string }
  await expect(openSqliteReader({ directory, workerUrl })).rejects.toMatchObject(refused)
  for (let turn = 0; turn < 2; turn += 1) {
    await expect(openSqliteJournal({ directory, workerUrl })).rejects.toMatchObject(refused)
  }
  expect(await contents(directory)).toEqual(before)
  expect(await readdir(directory)).not.toContain('journal.db-shm')
}

/** Every file beside the lock and SQLite's index of the WAL, as text that can be compared. */
async function contents(place: string): Promise<ReadonlyMap<string, string>> {
  const names = (await readdir(place)).filter((name) => name !== 'server.lock' && name !== 'journal.db-shm')
  return new Map(
    await Promise.all(names.map(async (name) => [name, await readFile(join(place, name), 'base64')] as const)),
  )
}

test.each(['/proc/parley/home', '/dev/null', '/dev/null/home'])('a journal in %s is refused at once', (place) =>
  expect(openSqliteJournal({ directory: place, workerUrl })).rejects.toMatchObject({ code: 'JOURNAL_IO' }),
)
