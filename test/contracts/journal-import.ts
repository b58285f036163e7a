/** What every journal keeps that takes in whole sessions from elsewhere. */
import { describe, expect, test } from 'vitest'
import type { ImportingJournal, SessionChange, StoredEntry } from '../../src/ports/journal.ts'
import { appendOf, entriesOf, wide } from './journal-words.ts'

export function journalImportContract(open: () => Promise<{ journal: ImportingJournal; clear: () => Promise<void> }>) {
  async function withJournal(use: (journal: ImportingJournal) => Promise<void>): Promise<void> {
    const { journal, clear } = await open()
    try {
      await use(journal)
    } finally {
      await journal.close()
      await clear()
    }
  }

  describe('bring', () => {
    test('into a journal that has never had a session makes one, whole, that goes on like any other', () =>
      withJournal(async (journal) => {
        const last = appendOf('s', 2_500, { count: 2, snapshot: { seq: 2_502, state: '"brought"' } })
        await journal.importSession(piecesOf(entriesOf('s', 0, 2_500), 700), () => last)
        expect(await journal.page('s', 0, wide)).toEqual(entriesOf('s', 0, 2_502))
        expect(await journal.head('s')).toEqual({ row: last.row, snapshot: last.snapshot })
        await journal.append(appendOf('s', 2_502, 1))
        await journal.append(appendOf('other', 0, 3))
        expect(await journal.page('s', 2_500, wide)).toEqual(entriesOf('s', 2_500, 3))
        expect(await journal.page('other', 0, wide)).toEqual(entriesOf('other', 0, 3))
      }))

    test('is a change of the list', () =>
      withJournal(async (journal) => {
        const changes: SessionChange[] = []
        journal.watch((change) => changes.push(change))
        const last = appendOf('s', 3, 1)
        await journal.importSession(piecesOf(entriesOf('s', 0, 3), 2), () => last)
        expect(changes).toEqual([{ kind: 'changed', row: last.row }])
      }))

    test('may add nothing of its own', () =>
      withJournal(async (journal) => {
        await journal.importSession(piecesOf(entriesOf('s', 0, 3), 1), () => appendOf('s', 3, 0))
        expect(await journal.page('s', 0, wide)).toEqual(entriesOf('s', 0, 3))
      }))

    test('that fails in the middle or at its end leaves nothing', () =>
      withJournal(async (journal) => {
        const failing = (async function* () {
          yield entriesOf('s', 0, 10)
          throw new Error('the file is bad')
        })()
        await expect(journal.importSession(failing, () => appendOf('s', 10, 0))).rejects.toThrow('the file is bad')
        const late = journal.importSession(piecesOf(entriesOf('s', 0, 10), 5), () => {
          throw new Error('the end is bad')
        })
        await expect(late).rejects.toThrow('the end is bad')
        expect(await journal.list({ limit: 10 })).toEqual([])
        expect(await journal.page('s', 0, wide)).toEqual([])
      }))

    test('under a name that is taken is refused, and harms neither', () =>
      withJournal(async (journal) => {
        await journal.append(appendOf('s', 0, 4))
        const again = journal.importSession(piecesOf(entriesOf('s', 0, 2), 2), () => appendOf('s', 2, 0))
        await expect(again).rejects.toMatchObject({ code: 'JOURNAL_CONFLICT' })
        expect(await journal.page('s', 0, wide)).toEqual(entriesOf('s', 0, 4))
      }))

    test('goes on while others append', () =>
      withJournal(async (journal) => {
        const brought = journal.importSession(piecesOf(entriesOf('s', 0, 5_000), 250), () => appendOf('s', 5_000, 0))
        for (let seq = 0; seq < 50; seq += 1) await journal.append(appendOf('other', seq, 1))
        await brought
        expect(await journal.page('s', 0, wide)).toEqual(entriesOf('s', 0, 5_000))
        expect(await journal.page('other', 0, wide)).toEqual(entriesOf('other', 0, 50))
      }))
  })
}

async function* piecesOf(entries: readonly StoredEntry[], size: number): AsyncGenerator<readonly StoredEntry[]> {
  for (let start = 0; start < entries.length; start += size) yield entries.slice(start, start + size)
}
