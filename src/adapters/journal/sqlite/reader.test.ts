/** A reader reads a journal without owning it, also while another process owns it. */
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { appendOf, entriesOf, everything, idsOf, wide } from '../../../../test/contracts/journal-words.ts'
import { startOwner, temporaryDirectory, workerUrl } from '../../../../test/fixtures/journal/places.ts'
import { openSqliteJournal, openSqliteReader } from './sqlite-journal.ts'

let directory: string
let clear: () => Promise<void>

beforeEach(async () => {
  ;({ directory, clear } = await temporaryDirectory())
})

afterEach(() => clear())

test('reads what the owner stores, while the owner continues', async () => {
  const owner = await openSqliteJournal({ directory, workerUrl })
  await owner.append(appendOf('s', 0, { count: 5, snapshot: { seq: 5, state: '5' } }))
  const reader = await openSqliteReader({ directory, workerUrl })
  expect(await everything(reader, 's')).toEqual(await everything(owner, 's'))
  await owner.append(appendOf('s', 5, 2))
  await owner.append(appendOf('t', 0, 1))
  expect(await reader.page('s', 0, wide)).toEqual(entriesOf('s', 0, 7))
  expect(idsOf(await reader.list({ limit: 9 }))).toEqual(['s', 't'])
  await owner.close()
  expect(await reader.head('s')).toMatchObject({ row: { lastSeq: 7 } })
  await reader.close()
})

test('reads what another process has stored, also after that was killed', async () => {
  const owner = startOwner({ directory, program: 'append' })
  let acknowledged = 0
  for await (const line of owner.lines) {
    if (line.said !== 'acknowledged' || line.session !== 'left') continue
    acknowledged = line.seq
    if (acknowledged === 30) await expectStored(30)
    if (acknowledged === 60) void owner.kill()
  }
  await owner.ended
  await expectStored(acknowledged)
})

async function expectStored(seq: number): Promise<void> {
  const reader = await openSqliteReader({ directory, workerUrl })
  const entries = await reader.page('left', 0, wide)
  expect(entries.length).toBeGreaterThanOrEqual(seq)
  expect(entries).toEqual(entriesOf('left', 0, entries.length))
  await reader.close()
}

test('without a journal it is empty and creates nothing, and reads the journal once there is one', async () => {
  const state = join(directory, 'not', 'there')
  const reader = await openSqliteReader({ directory: state, workerUrl })
  expect(await reader.list({ limit: 9 })).toEqual([])
  expect(await reader.head('s')).toBeUndefined()
  expect(await reader.page('s', 0, wide)).toEqual([])
  expect(await readdir(directory)).toEqual([])
  const owner = await openSqliteJournal({ directory: state, workerUrl })
  await owner.append(appendOf('s', 0, 1))
  expect(await reader.page('s', 0, wide)).toEqual(entriesOf('s', 0, 1))
  await reader.close()
  await owner.append(appendOf('s', 1, 1))
  await owner.close()
})

test('does not block the start or the end of an owner', async () => {
  const first = await openSqliteJournal({ directory, workerUrl })
  await first.append(appendOf('s', 0, 1))
  await first.close()
  const reader = await openSqliteReader({ directory, workerUrl })
  expect(await reader.page('s', 0, wide)).toHaveLength(1)
  const second = await openSqliteJournal({ directory, workerUrl })
  await second.append(appendOf('s', 1, 1))
  expect(await reader.page('s', 0, wide)).toHaveLength(2)
  await second.close()
  const third = await openSqliteJournal({ directory, workerUrl })
  expect(await third.page('s', 0, wide)).toHaveLength(2)
  await third.close()
  await reader.close()
})

test('refuses reads after its close, and may be closed again', async () => {
  const reader = await openSqliteReader({ directory, workerUrl })
  await Promise.all([reader.close(), reader.close()])
  await expect(reader.list({ limit: 1 })).rejects.toMatchObject({ code: 'JOURNAL_CLOSED' })
})

test('reads a file of format 1, which the next owner brings up to date', async () => {
  const owner = await openSqliteJournal({ directory, workerUrl })
  await owner.append(appendOf('s', 0, 2))
  await owner.close()
  const db = new DatabaseSync(join(directory, 'journal.db'))
  db.exec('ALTER TABLE sessions DROP COLUMN standing; PRAGMA user_version = 1')
  db.close()
  const reader = await openSqliteReader({ directory, workerUrl })
  expect(idsOf(await reader.list({ limit: 9 }))).toEqual(['s'])
  const standing = { lastEnd: { stopReason: 'end_turn', seq: 3, at: 1 } }
  const next = await openSqliteJournal({ directory, workerUrl })
  await next.append(appendOf('s', 2, { count: 1, row: { standing } }))
  for (const one of [next, reader]) expect((await one.head('s'))?.row).toMatchObject({ lastSeq: 3, standing })
  await Promise.all([next.close(), reader.close()])
})
