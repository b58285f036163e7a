/** What every journal promises (`src/ports/journal.ts`), as one suite for all adapters. */
import * as fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Journal, SessionChange } from '../../src/ports/journal.ts'
import { appendOf, entriesOf, everything, followed, following, idsOf, wide } from './journal-words.ts'
import { listContract } from './journal-list.ts'
import { runAgainstModel, stepsOf } from './journal-model.ts'

export interface OpenedJournal {
  readonly journal: Journal
  /** Clears away what closing the journal leaves. */
  readonly clear: () => Promise<void>
}

export function journalContract(open: () => Promise<OpenedJournal>): void {
  let journal: Journal
  let opened: OpenedJournal

  beforeEach(async () => {
    opened = await open()
    journal = opened.journal
  })

  afterEach(async () => {
    await journal.close()
    await opened.clear()
  })

  describe('append', () => {
    test('what was appended is there: entries, row and snapshot', async () => {
      const append = appendOf('s', 0, { count: 3, row: { title: 'Hello' }, snapshot: { seq: 2, state: '{"open":[]}' } })
      await journal.append(append)
      expect(await journal.page('s', 0, wide)).toEqual(append.entries)
      expect(await journal.head('s')).toEqual({ row: append.row, snapshot: append.snapshot })
    })

    test('appends follow each other, also without waiting for the one before', async () => {
      await Promise.all([0, 2, 4, 6].map((expected) => journal.append(appendOf('s', expected, 2))))
      expect(await journal.page('s', 0, wide)).toEqual(entriesOf('s', 0, 8))
    })

    test('an append that expects another last entry is a conflict and changes nothing', async () => {
      await journal.append(appendOf('s', 0, { count: 3, snapshot: { seq: 1, state: '1' } }))
      const before = await everything(journal, 's')
      const late = appendOf('s', 2, { count: 2, row: { title: 'late' }, snapshot: { seq: 2, state: '2' } })
      await expect(journal.append(late)).rejects.toMatchObject({
        code: 'JOURNAL_CONFLICT',
        details: { session: 's', expected: 2, found: 3 },
      })
      await expect(journal.append(appendOf('s', 0, 1))).rejects.toMatchObject({ code: 'JOURNAL_CONFLICT' })
      await expect(journal.append(appendOf('s', 9, 1))).rejects.toMatchObject({ code: 'JOURNAL_CONFLICT' })
      expect(await everything(journal, 's')).toEqual(before)
    })

    test('what holds a text is found, from anywhere on and piece by piece', async () => {
      await journal.append(appendOf('s', 0, { count: 40 }))
      const all = await journal.page('s', 0, wide)
      const text = all[22]?.body ?? 'none'
      const wanted = all.filter(({ body }) => body.includes(text))
      expect(await journal.find('s', { from: 0, text }, wide)).toEqual({ entries: wanted, until: 40 })
      expect(await journal.find('s', { from: 23, text }, wide)).toEqual({
        entries: wanted.filter(({ seq }) => seq > 23),
        until: 40,
      })
      expect(await journal.find('s', { from: 0, text }, { ...wide, entries: 5 })).toMatchObject({ until: 5 })
      expect(await journal.find('s', { from: 40, text }, wide)).toEqual({ entries: [], until: undefined })
      expect(await journal.find('none', { from: 0, text }, wide)).toEqual({ entries: [], until: undefined })
    })

    test('only 0 creates a session', async () => {
      await expect(journal.append(appendOf('new', 5, 1))).rejects.toMatchObject({
        code: 'JOURNAL_CONFLICT',
        details: { session: 'new', expected: 5, found: 0 },
      })
      expect(await journal.head('new')).toBeUndefined()
    })

    test('of two writers that expect the same, exactly one wins', async () => {
      await journal.append(appendOf('s', 0, 1))
      const both = await Promise.allSettled([journal.append(appendOf('s', 1, 1)), journal.append(appendOf('s', 1, 4))])
      expect(both.map(({ status }) => status)).toEqual(['fulfilled', 'rejected'])
      expect((await journal.head('s'))?.row.lastSeq).toBe(2)
    })

    test('a conflict in one session harms no other that is written at the same time', async () => {
      await journal.append(appendOf('taken', 0, 2))
      const results = await Promise.allSettled([
        journal.append(appendOf('left', 0, 2)),
        journal.append(appendOf('taken', 0, 2)),
        journal.append(appendOf('right', 0, 2)),
      ])
      expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
      for (const id of ['left', 'taken', 'right']) expect(await journal.page(id, 0, wide)).toHaveLength(2)
    })

    test('a row can change without an entry', async () => {
      await journal.append(appendOf('s', 0, 2))
      const renamed = appendOf('s', 2, { count: 0, row: { title: 'New name', phase: 'closed' } })
      await journal.append(renamed)
      expect((await journal.head('s'))?.row).toEqual(renamed.row)
    })

    test('entries that would leave a hole are refused', async () => {
      const { row, entries, expected } = appendOf('s', 0, 3)
      const holed = { row, entries: entries.filter(({ seq }) => seq !== 2), expected }
      await expect(journal.append(holed)).rejects.toMatchObject({ code: 'INTERNAL_ERROR' })
      await expect(journal.append({ row, entries: entries.slice(0, 2), expected })).rejects.toMatchObject({
        code: 'INTERNAL_ERROR',
      })
      const misnumbered = [...entries.slice(0, 2), { at: 0, body: '{}', seq: 4 }]
      await expect(journal.append({ row, entries: misnumbered, expected })).rejects.toMatchObject({
        code: 'INTERNAL_ERROR',
      })
      expect(await journal.head('s')).toBeUndefined()
    })

    test('a snapshot is kept until another replaces it', async () => {
      await journal.append(appendOf('s', 0, { count: 1, snapshot: { seq: 1, state: 'first' } }))
      await journal.append(appendOf('s', 1, 1))
      expect((await journal.head('s'))?.snapshot).toEqual({ seq: 1, state: 'first' })
      await journal.append(appendOf('s', 2, { count: 1, snapshot: { seq: 3, state: 'second' } }))
      expect((await journal.head('s'))?.snapshot).toEqual({ seq: 3, state: 'second' })
    })

    test('every text comes back as it was given', async () => {
      const odd = 'nul \0, quote ", backslash \\, line\n, half a pair \ud800, 卷, 👋'
      const row = { cwd: `/${odd}`, additionalDirectories: [odd, ''], agent: odd, title: odd }
      const append = appendOf(odd, 0, { count: 1, row })
      await journal.append(append)
      expect((await journal.head(odd))?.row).toEqual(append.row)
      expect(await journal.list({ cwd: `/${odd}`, limit: 5 })).toEqual([append.row])
      expect(await journal.head(odd.slice(0, odd.indexOf('\0')))).toBeUndefined()
    })
  })

  describe('fork', () => {
    /** The first `at` entries of `s`, and two of its own. */
    function forkOf(at: number, id = 'fork') {
      return appendOf(id, at, { count: 2, row: { title: 'Fork' }, snapshot: { seq: at + 2, state: '"forked"' } })
    }

    test('begins with the entries of its source, goes on with its own, and leaves the source as it was', async () => {
      await journal.append(appendOf('s', 0, { count: 7, snapshot: { seq: 7, state: '7' } }))
      const before = await everything(journal, 's')
      const append = forkOf(5)
      await journal.fork('s', append)
      expect(await journal.page('fork', 0, wide)).toEqual([...entriesOf('s', 0, 5), ...append.entries])
      expect(await journal.head('fork')).toEqual({ row: append.row, snapshot: append.snapshot })
      expect(await everything(journal, 's')).toEqual(before)
      await journal.append(appendOf('fork', 7, 1))
      await journal.append(appendOf('s', 7, 1))
      expect(await journal.page('fork', 6, wide)).toEqual(entriesOf('fork', 6, 2))
      expect(await journal.page('s', 6, wide)).toEqual(entriesOf('s', 6, 2))
    })

    test('is cut at any entry, however the source was appended', async () => {
      const counts = [1, 30, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 60, 3]
      let length = 0
      for (const count of counts) {
        await journal.append(appendOf('s', length, { count, row: { phase: length < 40 ? 'working' : 'idle' } }))
        length += count
      }
      const all = entriesOf('s', 0, length)
      await Promise.all(all.map(({ seq }) => journal.fork('s', forkOf(seq, `fork-${seq}`))))
      for (const { seq } of all) {
        const entries = await journal.page(`fork-${seq}`, 0, wide)
        expect(entries).toEqual([...all.slice(0, seq), ...entriesOf(`fork-${seq}`, seq, 2)])
      }
    })

    test('of a fork, and after its source is deleted, is whole', async () => {
      await journal.append(appendOf('s', 0, 5000))
      await journal.fork('s', forkOf(4000, 'first'))
      await journal.delete('s')
      await journal.fork('first', forkOf(4001, 'second'))
      await journal.delete('first')
      expect(await journal.page('second', 0, wide)).toEqual([
        ...entriesOf('s', 0, 4000),
        ...entriesOf('first', 4000, 1),
        ...entriesOf('second', 4001, 2),
      ])
      expect(idsOf(await journal.list({ limit: 9 }))).toEqual(['second'])
    })

    test('while its source and others are written has what the source had', async () => {
      await journal.append(appendOf('s', 0, 20_000))
      await Promise.all([
        journal.fork('s', forkOf(20_000)),
        journal.append(appendOf('s', 20_000, 300)),
        journal.append(appendOf('other', 0, 3)),
      ])
      expect(await journal.page('fork', 0, wide)).toEqual([
        ...entriesOf('s', 0, 20_000),
        ...entriesOf('fork', 20_000, 2),
      ])
      expect(await journal.page('s', 20_000, wide)).toEqual(entriesOf('s', 20_000, 300))
    })

    test('that cannot be is a conflict and leaves nothing', async () => {
      await journal.append(appendOf('s', 0, 3))
      const before = await everything(journal, 's')
      const conflict = (session: string, found: number) => ({ code: 'JOURNAL_CONFLICT', details: { session, found } })
      await expect(journal.fork('s', forkOf(4))).rejects.toMatchObject(conflict('s', 3))
      await expect(journal.fork('nobody', forkOf(1))).rejects.toMatchObject(conflict('nobody', 0))
      await expect(journal.fork('s', forkOf(2, 's'))).rejects.toMatchObject(conflict('s', 3))
      expect(await everything(journal, 's')).toEqual(before)
      expect(idsOf(await journal.list({ limit: 9 }))).toEqual(['s'])
      await journal.fork('s', forkOf(3))
      expect(await journal.page('fork', 0, wide)).toHaveLength(5)
    })

    test('of a session that is deleted meanwhile is whole or a conflict', async () => {
      await journal.append(appendOf('s', 0, 20_000))
      const [forked] = await Promise.allSettled([journal.fork('s', forkOf(20_000)), journal.delete('s')])
      const entries = await journal.page('fork', 0, wide)
      if (forked.status === 'fulfilled') expect(entries).toHaveLength(20_002)
      else {
        expect(forked.reason).toMatchObject({ code: 'JOURNAL_CONFLICT' })
        expect(await journal.head('fork')).toBeUndefined()
      }
    })

    test('is followed by readers that waited for it', async () => {
      const seen = following(journal, 'fork')
      await journal.append(appendOf('s', 0, 2))
      await journal.fork('s', forkOf(2))
      await seen.until(4)
      expect(await seen.stop()).toEqual([...entriesOf('s', 0, 2), ...entriesOf('fork', 2, 2)])
    })
  })

  describe('page', () => {
    test('starts after the cursor and ends at the limit of entries', async () => {
      await journal.append(appendOf('s', 0, 10))
      expect(await journal.page('s', 3, { entries: 4, chars: 1e6 })).toEqual(entriesOf('s', 3, 4))
      expect(await journal.page('s', 8, { entries: 4, chars: 1e6 })).toEqual(entriesOf('s', 8, 2))
    })

    test('holds no more characters than asked for, but always one entry', async () => {
      await journal.append(appendOf('s', 0, 10))
      const size = entriesOf('s', 0, 1)[0]?.body.length ?? 0
      expect(await journal.page('s', 0, { entries: 100, chars: size * 3 })).toHaveLength(3)
      expect(await journal.page('s', 0, { entries: 100, chars: size * 3 - 1 })).toHaveLength(2)
      expect(await journal.page('s', 0, { entries: 100, chars: 1 })).toEqual(entriesOf('s', 0, 1))
    })

    test('is empty at the end, past the end, and where there is no session', async () => {
      await journal.append(appendOf('s', 0, 2))
      expect(await journal.page('s', 2, wide)).toEqual([])
      expect(await journal.page('s', 7, wide)).toEqual([])
      expect(await journal.page('nobody', 0, wide)).toEqual([])
    })
  })

  test('tells who watches the list of each change once it is stored, and of none that was refused', async () => {
    const changes: SessionChange[] = []
    const stop = journal.watch((change) => changes.push(change))
    const [made, forked] = [appendOf('s', 0, 2), appendOf('fork', 2, 1)]
    await journal.append(made)
    await expect(journal.append(made)).rejects.toThrow('first')
    await journal.fork('s', forked)
    await journal.delete('s')
    stop()
    await journal.delete('fork')
    const stored = [made, forked].map(({ row }) => ({ kind: 'changed', row }))
    expect(changes).toEqual([...stored, { kind: 'removed', id: 's' }])
  })

  describe('read', () => {
    test('gives what is stored, then what comes, each once and in order, until it is aborted', async () => {
      await journal.append(appendOf('s', 0, 2500))
      const seen = following(journal, 's')
      await seen.until(2500)
      for (let seq = 2500; seq < 2510; seq += 1) await journal.append(appendOf('s', seq, 1))
      await seen.until(2510)
      expect(await seen.stop()).toEqual(entriesOf('s', 0, 2510))
    })

    test('from a cursor gives only what comes after it', async () => {
      await journal.append(appendOf('s', 0, 5))
      const seen = following(journal, 's', 3)
      await seen.until(2)
      expect(await seen.stop()).toEqual(entriesOf('s', 3, 2))
    })

    test('may begin before the session does', async () => {
      const seen = following(journal, 's')
      await journal.append(appendOf('s', 0, 1))
      await seen.until(1)
      expect(await seen.stop()).toEqual(entriesOf('s', 0, 1))
    })

    test('ends at once when aborted while it waits, or before it begins', async () => {
      const stop = new AbortController()
      const waiting = followed(journal.read('s', 0, stop.signal))
      await journal.head('s')
      stop.abort()
      expect(await waiting.ended).toEqual([])
      expect(await followed(journal.read('s', 0, stop.signal)).ended).toEqual([])
    })

    test('ends when the session is deleted, even if another of the same name begins at once', async () => {
      await journal.append(appendOf('s', 0, 2))
      const seen = following(journal, 's')
      await seen.until(2)
      await journal.delete('s')
      await journal.append(appendOf('s', 0, 5))
      expect(await seen.ended).toEqual(entriesOf('s', 0, 2))
    })

    test('never hears of an append that was refused', async () => {
      await journal.append(appendOf('s', 0, 1))
      const seen = following(journal, 's')
      await seen.until(1)
      await expect(journal.append(appendOf('s', 0, 1))).rejects.toThrow('first')
      await journal.append(appendOf('s', 1, 1))
      await seen.until(2)
      expect(await seen.stop()).toEqual(entriesOf('s', 0, 2))
    })

    test('many readers of one session all see the same', async () => {
      const readers = Array.from({ length: 50 }, () => following(journal, 's'))
      for (let seq = 0; seq < 20; seq += 1) await journal.append(appendOf('s', seq, 1))
      await Promise.all(readers.map((reader) => reader.until(20)))
      for (const reader of readers) expect(await reader.stop()).toEqual(entriesOf('s', 0, 20))
    })

    test('throws JOURNAL_CLOSED when the journal closes under it', async () => {
      await journal.append(appendOf('s', 0, 1))
      const seen = following(journal, 's')
      await seen.until(1)
      await journal.close()
      await expect(seen.ended).rejects.toMatchObject({ code: 'JOURNAL_CLOSED' })
    })
  })

  listContract(() => journal)

  describe('delete', () => {
    test('forgets everything of the session and nothing of others', async () => {
      await journal.append(appendOf('s', 0, { count: 5000, snapshot: { seq: 1, state: '1' } }))
      await journal.append(appendOf('other', 0, { count: 3, snapshot: { seq: 1, state: '2' } }))
      const other = await everything(journal, 'other')
      expect(await journal.delete('s')).toBe(true)
      expect(await journal.head('s')).toBeUndefined()
      expect(await journal.page('s', 0, wide)).toEqual([])
      expect(idsOf(await journal.list({ limit: 9 }))).toEqual(['other'])
      expect(await journal.delete('s')).toBe(false)
      expect(await everything(journal, 'other')).toEqual(other)
    })

    test('frees the name: a new session of that name has nothing of the old', async () => {
      await journal.append(appendOf('s', 0, { count: 5000, snapshot: { seq: 9, state: 'old' } }))
      await journal.delete('s')
      await journal.append(appendOf('s', 0, 2))
      expect(await journal.page('s', 0, wide)).toEqual(entriesOf('s', 0, 2))
      expect((await journal.head('s'))?.snapshot).toBeUndefined()
    })

    test('a writer that does not know of it meets a conflict', async () => {
      await journal.append(appendOf('s', 0, 2))
      await journal.delete('s')
      await expect(journal.append(appendOf('s', 2, 1))).rejects.toMatchObject({ code: 'JOURNAL_CONFLICT' })
    })
  })

  describe('close', () => {
    test('finishes what was accepted, and may be called again', async () => {
      const accepted = Array.from({ length: 20 }, (_, seq) => journal.append(appendOf('s', seq, 1)))
      const closing = [journal.close(), journal.close()]
      await Promise.all([...accepted, ...closing])
      await journal.close()
    })

    test('after it every method throws JOURNAL_CLOSED', async () => {
      await journal.close()
      const closed = { code: 'JOURNAL_CLOSED' }
      await expect(journal.append(appendOf('s', 0, 1))).rejects.toMatchObject(closed)
      await expect(journal.fork('s', appendOf('fork', 1, 1))).rejects.toMatchObject(closed)
      await expect(journal.page('s', 0, wide)).rejects.toMatchObject(closed)
      await expect(journal.head('s')).rejects.toMatchObject(closed)
      await expect(journal.list({ limit: 1 })).rejects.toMatchObject(closed)
      await expect(journal.delete('s')).rejects.toMatchObject(closed)
      await expect(following(journal, 's').ended).rejects.toMatchObject(closed)
    })
  })

  test('a thousand sessions are written at once, each whole', async () => {
    const ids = Array.from({ length: 1000 }, (_, index) => `s${index}`)
    await Promise.all(ids.flatMap((id) => [journal.append(appendOf(id, 0, 3)), journal.append(appendOf(id, 3, 2))]))
    expect(await journal.list({ limit: 2000 })).toHaveLength(1000)
    const pages = await Promise.all(ids.map((id) => journal.page(id, 0, wide)))
    for (const [index, page] of pages.entries()) expect(page).toEqual(entriesOf(`s${index}`, 0, 5))
  })

  test('any story of appends, pages, reads and deletes gives what a plain list would', async () => {
    let story = 0
    await fc.assert(
      fc.asyncProperty(stepsOf, async (steps) => {
        story += 1
        await runAgainstModel(journal, `story-${story}`, steps)
      }),
      { numRuns: 60 },
    )
  })
}
