/** What an export has, and what an import makes of it. */
import { expect, test } from 'vitest'
import { memoryJournal } from '../../adapters/journal/memory.ts'
import { TestClock } from '../../../test/sim/clock.ts'
import { diskAfter, stateAfter } from '../../../test/sim/given.ts'
import * as say from '../../../test/sim/words.ts'
import { type Body, type Entry, decodeEntry } from '../domain/entries.ts'
import { type Existing, decodeState, rowOf } from '../domain/state.ts'
import { exportLine, exportPage } from './export-session.ts'
import { importSession } from './import-session.ts'

const working = [say.created, say.accepted('p1', 'x'), say.turnStarted(1, 'p1')]
const LIMITS = { entries: 100, chars: 10_000 }
const entriesOf = (...bodies: readonly Body[]): readonly Entry[] =>
  bodies.map((body, n) => Object.assign({ seq: n + 1, at: 1 }, body))

test('an export has the session and its entries up to the one that was last when it began, page by page', async () => {
  const journal = await diskAfter(...working, ...Array.from({ length: 1_000 }, (_, n) => say.titled(`${n}`)))
  const row = { ...rowOf(stateAfter(...working) as Existing), lastSeq: 1_002 }
  const first = await exportPage(journal, row, 0)
  expect(JSON.parse(first.lines[0] ?? '')).toEqual({ parley: 'session', format: 1, entryFormat: 1, session: row })
  expect([first.lines.length, first.seq, first.more, first.lastSeq]).toEqual([1_001, 1_000, true, 1_002])
  const rest = await exportPage(journal, row, first.seq)
  expect(rest.lines.map((line) => (JSON.parse(line) as Entry).seq)).toEqual([1_001, 1_002])
  expect(rest.more).toBe(false)
  expect(await exportPage(journal, row, 1_003)).toEqual({ lines: [], seq: 1_002, more: false, lastSeq: 1_002 })
})

test('an exported entry is as it was stored, without the state of an MCP server and the mark of an import', () => {
  const line = (body: Body) => JSON.parse(exportLine({ seq: 1, at: 2, body: JSON.stringify(body) })) as unknown
  expect(line(say.titled('x'))).toEqual({ seq: 1, at: 2, ...say.titled('x') })
  expect(line({ ...say.created, imported: 9 } as Body)).toEqual({ seq: 1, at: 2, ...say.created })
  expect(line(say.paused('c1'))).toEqual({ seq: 1, at: 2, ...say.paused('c1'), input: null })
})

test('an imported session is marked as one, and its open turn is interrupted, with a sentence that says why', async () => {
  const [journal, clock] = [memoryJournal(), new TestClock()]
  const entries = entriesOf(...working)
  async function* pieces() {
    yield entries.slice(0, 1)
    yield entries.slice(1)
  }
  await importSession({ journal, clock }, { id: 's-2', count: 3, pieces: pieces() })
  const stored = (await journal.page('s-2', 0, LIMITS)).map(decodeEntry)
  const error = { code: 'TURN_INTERRUPTED', message: expect.stringContaining('was exported while') }
  expect(stored).toEqual([
    { seq: 1, at: 1, ...say.created, imported: 3 },
    ...entries.slice(1),
    { seq: 4, at: 1_000, ...say.ended(1, 'p1', 'interrupted'), error },
  ])
  const head = await journal.head('s-2')
  const state = decodeState(head?.snapshot?.state ?? '{}')
  expect(head).toMatchObject({ row: { id: 's-2', lastSeq: 4, phase: 'idle' }, snapshot: { seq: 4 } })
  expect(state).toMatchObject({ imported: 3, lastEnd: { stopReason: 'interrupted', seq: 4 } })
  const again = importSession({ journal, clock }, { id: 's-2', count: 3, pieces: pieces() })
  await expect(again).rejects.toMatchObject({ code: 'SESSION_EXISTS', details: { session: 's-2' } })
})

test('an import of nothing, and one that cannot be read to its end, store nothing', async () => {
  const [journal, clock] = [memoryJournal(), new TestClock()]
  async function* broken(): AsyncGenerator<readonly Entry[]> {
    yield entriesOf(say.created)
    throw new Error('a broken file')
  }
  async function* nothing(): AsyncGenerator<readonly Entry[]> {}
  const reads = (pieces: AsyncIterable<readonly Entry[]>) =>
    importSession({ journal, clock }, { id: 's-2', count: 1, pieces })
  await expect(reads(broken())).rejects.toThrow('a broken file')
  await expect(reads(nothing())).rejects.toMatchObject({ code: 'INTERNAL_ERROR' })
  expect(await journal.head('s-2')).toBeUndefined()
})
