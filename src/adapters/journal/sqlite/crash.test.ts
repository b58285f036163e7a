/** A journal whose process is killed, at any moment, has everything that it acknowledged and no half of anything. */
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { appendOf, entriesOf, wide } from '../../../../test/contracts/journal-words.ts'
import { type OwnerOrder, startOwner, temporaryDirectory, workerUrl } from '../../../../test/fixtures/journal/places.ts'
import type { Journal } from '../../../ports/journal.ts'
import { openSqliteJournal } from './sqlite-journal.ts'

/** How many entries the owner appends at once, by session. */
const batches: ReadonlyMap<string, number> = new Map([
  ['left', 3],
  ['right', 40],
])

let directory: string
let clear: () => Promise<void>

beforeEach(async () => {
  ;({ directory, clear } = await temporaryDirectory())
})

afterEach(() => clear())

test('after repeated kill -9, every acknowledged entry is stored, in whole batches, without a gap', async () => {
  const acknowledged = new Map<string, number>()
  for (const lines of [3, 60, 17, 400, 35, 150, 5, 90]) {
    await killAfter(lines, { directory, program: 'append' }, acknowledged)
    const journal = await openSqliteJournal({ directory, workerUrl })
    for (const [id, batch] of batches)
      await expectWhole(journal, { id, batch, acknowledged: acknowledged.get(id) ?? 0 })
    await journal.close()
  }
})

/** Kills the owner after it has said so many lines; lines that it wrote just before count too. */
async function killAfter(count: number, order: OwnerOrder, acknowledged: Map<string, number>): Promise<void> {
  const owner = startOwner(order)
  let lines = 0
  for await (const line of owner.lines) {
    lines += 1
    if (line.said === 'acknowledged') acknowledged.set(line.session, line.seq)
    if (lines === count) void owner.kill()
  }
  await owner.ended
}

interface Whole {
  readonly id: string
  readonly batch: number
  readonly acknowledged: number
}

async function expectWhole(journal: Journal, { id, batch, acknowledged }: Whole): Promise<void> {
  const entries = await journal.page(id, 0, wide)
  expect(entries).toEqual(entriesOf(id, 0, entries.length))
  expect(entries.length).toBeGreaterThanOrEqual(acknowledged)
  // One batch may have been stored without its acknowledgement getting out.
  expect([acknowledged, acknowledged + batch]).toContain(entries.length)
  const head = await journal.head(id)
  expect(head?.row.lastSeq ?? 0).toBe(entries.length)
  expect(head?.snapshot?.seq ?? 0).toBe(entries.length)
}

describe('killed at a named moment', () => {
  test('before the commit: nothing of the transaction is there', async () => {
    const stored = await storedWhenKilledAt('journal.rows.written')
    expect(stored).toEqual({ acknowledged: 6, stored: 6 })
  })

  test('after the commit, before it is published: all of it is there', async () => {
    const stored = await storedWhenKilledAt('journal.transaction.committed')
    expect(stored).toEqual({ acknowledged: 6, stored: 9 })
  })

  async function storedWhenKilledAt(point: 'journal.rows.written' | 'journal.transaction.committed') {
    const faults = [{ point, action: 'kill', nth: 3 }] as const
    const owner = startOwner({ directory, program: 'append-one', faults })
    let acknowledged = 0
    for await (const line of owner.lines) if (line.said === 'acknowledged') acknowledged = line.seq
    expect(await owner.ended).toBe('SIGKILL')
    const journal = await openSqliteJournal({ directory, workerUrl })
    const stored = (await journal.page('left', 0, wide)).length
    await journal.close()
    return { acknowledged, stored }
  }
})

test('killed during its creation, a journal is complete or absent', async () => {
  for (let ms = 0; ms < 60; ms += 10) {
    const { directory: state, clear: clearState } = await temporaryDirectory()
    const owner = startOwner({ directory: state, program: 'hold' })
    await owner.lines.next()
    await delay(ms)
    await owner.kill()
    const journal = await openSqliteJournal({ directory: state, workerUrl })
    await journal.append(appendOf('s', 0, 1))
    await journal.close()
    await clearState()
  }
})
