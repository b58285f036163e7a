/** A fork is made between the writes of others, and a crash at any moment leaves it whole or absent. */
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { appendOf, entriesOf, everything, longAppendOf, wide } from '../../../../test/contracts/journal-words.ts'
import { startOwner, temporaryDirectory, workerUrl } from '../../../../test/fixtures/journal/places.ts'
import type { FaultPoint } from '../../../ports/fault.ts'
import type { Journal } from '../../../ports/journal.ts'
import { openSqliteJournal } from './sqlite-journal.ts'

let directory: string
let clear: () => Promise<void>

beforeEach(async () => {
  ;({ directory, clear } = await temporaryDirectory())
})

afterEach(() => clear())

/** Entries that no session has: drafts, and what deleted sessions left. */
function leftovers(): number {
  const db = new DatabaseSync(join(directory, 'journal.db'), { readOnly: true })
  try {
    const row = db.prepare('SELECT count(*) AS n FROM entries WHERE session NOT IN (SELECT key FROM sessions)').get()
    return (row as { readonly n: number }).n
  } finally {
    db.close()
  }
}

test('appends are stored between the steps of a long fork', async () => {
  const journal = await openSqliteJournal({ directory, workerUrl })
  await journal.append(longAppendOf('s', 0, 5_000))
  const done: string[] = []
  const forking = journal.fork('s', appendOf('fork', 5_000, 1)).then(() => done.push('fork'))
  for (const seq of [0, 1, 2]) {
    await journal.append(appendOf('other', seq, 1))
    done.push(`other ${seq + 1}`)
  }
  await forking
  expect(done).toEqual(['other 1', 'other 2', 'other 3', 'fork'])
  await journal.close()
})

test('a failed fork leaves nothing behind', async () => {
  const faults = [{ point: 'journal.fork.copied', action: 'throw', nth: 1 }] as const
  const journal = await openSqliteJournal({ directory, workerUrl, faults })
  await journal.append(longAppendOf('s', 0, 600))
  await expect(journal.fork('s', appendOf('fork', 500, 1))).rejects.toThrow('journal.fork.copied')
  expect(await journal.head('fork')).toBeUndefined()
  await expect.poll(leftovers).toBe(0)
  await journal.fork('s', appendOf('fork', 500, 1))
  expect(await journal.page('fork', 0, wide)).toHaveLength(501)
  await journal.close()
})

const moments: readonly [FaultPoint, nth: number][] = [
  ['journal.transaction.committed', 2],
  ['journal.rows.written', 4],
  ['journal.transaction.committed', 4],
  ['journal.fork.copied', 1],
  ['journal.rows.written', 6],
  ['journal.transaction.committed', 6],
  ['journal.rows.written', 7],
]

test.each(moments)('killed at %s, time %i, a fork is complete or absent', async (point, nth) => {
  const owner = startOwner({ directory, program: 'fork', faults: [{ point, action: 'kill', nth }] })
  for await (const line of owner.lines) if (line.said === 'acknowledged') expect(line.seq).toBe(502)
  expect(await owner.ended).toBe('SIGKILL')
  const journal = await openSqliteJournal({ directory, workerUrl })
  await expectSource(journal)
  const { head, entries } = await everything(journal, 'fork')
  const isFinished = nth > 6 || (nth === 6 && point === 'journal.transaction.committed')
  expect(head?.row.lastSeq).toBe(isFinished ? 502 : undefined)
  const copied = longAppendOf('s', 0, 500).entries
  expect(entries).toEqual(isFinished ? [...copied, ...entriesOf('fork', 500, 2)] : [])
  await expect.poll(leftovers).toBe(0)
  await journal.close()
})

async function expectSource(journal: Journal): Promise<void> {
  expect(await journal.page('s', 0, wide)).toEqual(longAppendOf('s', 0, 600).entries)
}
