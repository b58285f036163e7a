/** Pages read backwards are the whole conversation, and begin where something begins. */
import { array, assert, constant, constantFrom, integer, oneof, record, asyncProperty } from 'fast-check'
import { describe, expect, test } from 'vitest'
import { memoryJournal } from '../../adapters/journal/memory.ts'
import { live, wishes } from '../../../test/sim/wishes.ts'
import {
  accepted,
  agentSaid,
  agentThought,
  asked,
  created,
  patched,
  resolved,
  toolCall,
  turnStarted,
  userSaid,
  yes,
} from '../../../test/sim/words.ts'
import { type Body, type Entry, encodeBody } from '../domain/entries.ts'
import { ReplayCoalescer } from '../subscribers/replay-coalescer.ts'
import { type SessionPage, readPage } from './read-page.ts'

const numbered = (bodies: readonly Body[]): readonly Entry[] =>
  bodies.map((body, n) => Object.assign({ seq: n + 1, at: n }, body))

function replay(entries: readonly Entry[]): readonly Entry[] {
  const coalescer = new ReplayCoalescer()
  return [...coalescer.push(entries), ...coalescer.flush()]
}

async function stored(entries: readonly Entry[]) {
  const journal = memoryJournal()
  const lastSeq = entries.length
  const about = { id: 's', cwd: '/', additionalDirectories: [], agent: 'a', title: null, createdAt: 0, updatedAt: 0 }
  await journal.append({
    row: { ...about, phase: 'idle', lastSeq },
    expected: 0,
    entries: entries.map(({ seq, at, ...body }) => ({ seq, at, body: encodeBody(body) })),
  })
  return journal
}

interface Sizes {
  readonly limit: number
  readonly step: number
}

/** All pages, the first one first. */
async function pagesOf(entries: readonly Entry[], sizes: Sizes): Promise<readonly SessionPage[]> {
  const journal = await stored(entries)
  const until = async (before?: number): Promise<readonly SessionPage[]> => {
    const page = await readPage(journal, 's', { ...sizes, before })
    return page.more ? [...(await until(page.from)), page] : [page]
  }
  return until()
}

const sizes = record({ limit: integer({ min: 1, max: 12 }), step: integer({ min: 1, max: 30 }) })

/** Turns with calls beside each other, asked about, and now and then a report of a call of a former turn. */
const sessions = array(
  record({
    words: array(
      oneof(
        record({ kind: constantFrom('word', 'thought'), id: integer({ min: 1, max: 3 }) }),
        record({ kind: constantFrom('call', 'patch', 'ask', 'late'), id: integer({ min: 1, max: 3 }) }),
        record({ kind: constant('resolve'), id: integer({ min: 1, max: 3 }) }),
      ),
      { maxLength: 12 },
    ),
  }),
  { maxLength: 6 },
).map((turns) => numbered([created, ...turns.flatMap(({ words }, index) => turnOf(index + 1, words))]))

function turnOf(number: number, words: readonly { readonly kind: string; readonly id: number }[]): readonly Body[] {
  const begun: Body[] = [accepted(`p${number}`, 'Go'), turnStarted(number, `p${number}`), userSaid(number, 'p', 'Go')]
  const known = new Set<number>()
  let message = { kind: '', id: '' }
  const said = words.flatMap(({ kind, id }, index): readonly Body[] => {
    const call = `c${number}-${id}`
    const isNew = !known.has(id)
    if (kind !== message.kind) message = { kind, id: `t${number}-m${index}` }
    if (kind === 'word') return [agentSaid(message.id, 'x')]
    if (kind === 'thought') return [agentThought(message.id, 'x')]
    if (kind === 'late') return [patched(`c${number - 1}-${id}`, 'completed')]
    known.add(id)
    if (isNew) return [toolCall(call, 'Look')]
    if (kind === 'ask') return [asked(`q-${call}`, call)]
    return kind === 'resolve' ? [resolved(`q-${call}`, yes)] : [patched(call, 'in_progress')]
  })
  return [...begun, ...said]
}

describe('pages of entries, read from the last to the first,', () => {
  test('together have what a replay of the whole journal has', async () => {
    await assert(
      asyncProperty(
        oneof(
          sessions,
          wishes.map((wanted) => live(wanted).entries),
        ),
        sizes,
        async (entries, sizes) => {
          if (entries.length === 0) return
          const pages = await pagesOf(entries, sizes)
          expect(pages.flatMap((page) => page.entries)).toEqual(replay(entries))
          const froms = pages.map(({ from }) => from)
          expect(froms[0]).toBe(1)
          expect(froms).toEqual([...new Set(froms)].toSorted((one, other) => one - other))
          const turns = pages.map(({ from }) =>
            entries.findLast((one) => one.seq < from && one.kind === 'turn_started'),
          )
          expect(pages.map(({ turn }) => (turn === 0 ? undefined : `t${turn}`))).toEqual(
            turns.map((started) => (started?.kind === 'turn_started' ? started.turnId : undefined)),
          )
        },
      ),
      { numRuns: 300 },
    )
  })

  test('split no message and no tool call of a turn', async () => {
    await assert(
      asyncProperty(sessions, sizes, async (entries, sizes) => {
        const pages = await pagesOf(entries, sizes)
        for (const { from } of pages) {
          const before = new Set(entries.filter(({ seq }) => seq < from).flatMap(itemOf(entries)))
          const after = entries.filter(({ seq }) => seq >= from).flatMap(itemOf(entries))
          expect(after.filter((item) => before.has(item))).toEqual([])
        }
      }),
      { numRuns: 300 },
    )
  })

  test('have the requested length where any cut is allowed', async () => {
    const turns = Array.from({ length: 700 }, (_, n) => turnOf(n + 1, [])).flat()
    const journal = await stored(numbered([created, ...turns]))
    const shown = ({ entries }: SessionPage) => entries.filter(({ kind }) => kind === 'message_chunk').length
    const last = await readPage(journal, 's', { limit: 200 })
    expect(shown(last)).toBe(200)
    expect(last.turn).toBe(501)
    const earlier = await readPage(journal, 's', { limit: 500, before: last.from })
    expect([shown(earlier), earlier.more]).toEqual([500, false])
  })

  test('end before the requested entry, and are empty before the first one', async () => {
    const journal = await stored(numbered([created, ...turnOf(1, [])]))
    expect(await readPage(journal, 's', { before: 4, limit: 9 })).toMatchObject({
      entries: [{ seq: 1 }, { seq: 2 }, { seq: 3 }],
      from: 1,
      more: false,
    })
    expect(await readPage(journal, 's', { before: 1, limit: 9 })).toEqual({
      entries: [],
      from: 1,
      more: false,
      turn: 0,
    })
    await expect(readPage(journal, 'none', { limit: 9 })).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' })
  })
})

/** Calls count as those of the turn in which something is said of them. */
function itemOf(entries: readonly Entry[]) {
  return (entry: Entry): readonly string[] => {
    const turn = entries.findLast((one) => one.seq <= entry.seq && one.kind === 'turn_started')?.seq ?? 0
    if (entry.kind === 'message_chunk') return [entry.messageId]
    return entry.kind === 'tool_call' || entry.kind === 'tool_call_patched' ? [`${turn} ${entry.toolCallId}`] : []
  }
}
