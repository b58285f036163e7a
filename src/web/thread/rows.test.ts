import { describe, expect, test, vi } from 'vitest'
import type { Update } from '../../client/incoming/updates.ts'
import type { Item } from '../../client/transcript/items.ts'
import { GrowingTranscript, emptyTranscript, withNews, withUpdates } from '../../client/transcript/transcript.ts'
import { Rows, isContinued, rowAt } from './rows.ts'

const call = (toolCallId: string, status = 'completed'): Update => {
  return { sessionUpdate: 'tool_call', toolCallId, title: toolCallId, status }
}
const says = (text: string, messageId = 'm'): Update => {
  return { sessionUpdate: 'agent_message_chunk', messageId, content: { type: 'text', text } }
}
const thinks = (messageId: string): Update => ({ ...says('hm', messageId), sessionUpdate: 'agent_thought_chunk' })
const itemsOf = (...updates: readonly Update[]) => withUpdates(emptyTranscript, updates).items

const DONE = { mayFold: true, isWorking: false }
const kinds = (updates: readonly Update[], how = DONE) =>
  new Rows().of(itemsOf(...updates), how).map(({ kind }) => kind)

const refusal = { sessionUpdate: 'session_info_update', _meta: { 'parley/end': { stopReason: 'refusal' } } }
test.each<readonly [updates: readonly Update[], rows: string]>([
  [[call('a'), call('b')], 'steps'],
  [[call('a'), thinks('t'), call('b'), says('x')], 'steps answer'],
  [[call('a'), says('x')], 'call answer'],
  [[call('a'), call('b', 'failed'), call('c')], 'call call call'],
  [[call('a'), call('b', 'in_progress')], 'call call'],
  [[says('Interrupted: …', 't1-end')], 'cut'],
  [[says('This turn failed: no', 't1-end')], 'failed'],
  [[says('x'), refusal], 'answer end'],
])('%j is shown as %s', (updates, rows) => expect(kinds(updates).join(' ')).toBe(rows))

test('the last run is folded when the turn has ended', () => {
  const run = [call('a'), call('b')]
  expect(kinds(run, { mayFold: true, isWorking: true })).toEqual(['call', 'call'])
  expect(kinds([...run, says('x')], { mayFold: true, isWorking: true })).toEqual(['steps', 'answer'])
})

test('nothing is folded while the reader has scrolled away, and folded runs stay folded', () => {
  const rows = new Rows()
  rows.of(itemsOf(call('a')), { mayFold: false, isWorking: true })
  const items = itemsOf(call('a'), call('b'), says('x'))
  expect(rows.of(items, { mayFold: false, isWorking: false })).toHaveLength(3)
  expect(rows.of(items, DONE)).toHaveLength(2)
  expect(rows.of(items, { mayFold: false, isWorking: false })).toHaveLength(2)
})

test('runs of a loaded page are folded at once, and are not merged into folded ones', () => {
  const rows = new Rows()
  const reading = { mayFold: false, isWorking: false }
  const later = [call('c'), call('d'), says('x')]
  rows.of(itemsOf(...later), DONE)
  const keys = rows.of(itemsOf(call('a'), call('b'), ...later), reading).map(({ key }) => key)
  expect(keys).toEqual(['steps call a', 'steps call c', 'agent m'])
})

test('a row of an item that did not change is the same', () => {
  const rows = new Rows()
  const items = itemsOf(says('x'))
  expect(rows.of(items, DONE)[0]).toBe(rows.of(items, DONE)[0])
})

test.each([1, 2, 3, 4, 5])('a conversation that grows has the rows of one that is read whole, seed %i', (seed) => {
  let state = seed
  const chance = (below: number): number => (state = (state * 16_807) % 2_147_483_647) % below
  const news = [
    () => call(`c${chance(30)}`, 'in_progress'),
    () => call(`c${chance(30)}`),
    () => call(`c${chance(30)}`, 'failed'),
    () => says('word ', `m${chance(8)}`),
    () => thinks(`t${chance(8)}`),
  ]
  const rows = new Rows()
  const growing = new GrowingTranscript()
  for (let step = 0; step < 200; step += 1) {
    const update = news[chance(news.length)]?.()
    if (update !== undefined) growing.take(update)
    const how = { mayFold: true, isWorking: chance(2) === 0 }
    rows.of(growing.items, how)
    const now = rows.of(growing.items, DONE)
    const itemsIn = (row: ReturnType<Rows['of']>[number]): readonly Item[] =>
      row.kind === 'steps' ? row.items : 'item' in row ? [row.item] : []
    const kept = new Set(now.flatMap(itemsIn))
    expect(growing.items.filter((item) => !kept.has(item))).toEqual([])
    expect(kept.size).toBe(growing.items.length)
  }
})

test('a word more costs nothing for what was said before', () => {
  const growing = new GrowingTranscript()
  for (let n = 0; n < 100; n += 1) growing.take(says('x', `m${n}`))
  const rows = new Rows()
  const before = rows.of(growing.items, DONE)
  growing.take(says('y', 'm99'))
  const known = vi.spyOn(WeakMap.prototype, 'get')
  const after = rows.of(growing.items, DONE)
  expect(known.mock.calls.length).toBeLessThan(5)
  known.mockRestore()
  expect(after.slice(0, 99)).toEqual(before.slice(0, 99))
  expect(after[99]).not.toBe(before[99])
})

describe('a long answer', () => {
  const paragraph = (n: number) =>
    `Paragraph ${n} has a sentence of some words, and another one, so that it is no line.\n\n`
  const text = (count: number) => Array.from({ length: count }, (_one, n) => paragraph(n)).join('')
  const WORKING = { mayFold: true, isWorking: true }

  test('stands in several rows, the first of which has its key', () => {
    const rows = new Rows().of(itemsOf(says('Short.', 'a'), says(text(200)), says('Short.', 'b')), DONE)
    expect(rows.map(isContinued).filter((one) => one).length).toBeGreaterThan(5)
    expect(rows.slice(0, 3).map(({ key }) => key)).toEqual(['agent a', 'agent m', 'agent m 1'])
    expect(rows.at(-1)?.key).toBe('agent b')
    expect(new Set(rows.map(({ key }) => key)).size).toBe(rows.length)
    const said = rows.map((row) => (row.kind === 'answer' ? (row.part?.raw ?? '') : '')).join('')
    expect(said).toBe(text(200))
  })

  test('that grows leaves the rows above its end as they are, also when it ends', () => {
    const rows = new Rows()
    const growing = new GrowingTranscript()
    let before: readonly unknown[] = []
    for (let n = 0; n < 200; n += 1) {
      growing.take(says(paragraph(n)))
      const now = rows.of(growing.items, WORKING)
      expect(now.slice(0, before.length).every((row, index) => row === before[index])).toBe(true)
      before = now.slice(0, -1)
    }
    const ended = rows.of(growing.items, DONE)
    expect(ended.slice(0, before.length).every((row, index) => row === before[index])).toBe(true)
    expect(rows.of(growing.items, DONE)).toEqual(ended)
    const keys = ended.map(({ key }) => key)
    expect(new Rows().of(growing.items, DONE).map(({ key }) => key)).toEqual(keys)
    // It goes on after all, as one that was interrupted does.
    growing.take(says('And more.'))
    const after = rows.of(growing.items, WORKING).map(({ key }) => key)
    expect(after.slice(0, keys.length)).toEqual(keys)
  })

  test('is found by its entry: the row that has the words, else its first', () => {
    const params = { update: says(text(200)), _meta: { 'parley/seq': 7 } }
    const { items } = withNews(emptyTranscript, [{ kind: 'update', params }])
    const rows = new Rows().of(items, DONE)
    expect(rowAt(rows, 9)?.key).toBe('agent m')
    expect(rowAt(rows, 6)).toBeUndefined()
    const found = rowAt(rows, 9, (raw) => raw.includes('Paragraph 150 '))
    expect(found?.kind === 'answer' && found.part?.raw).toContain('Paragraph 150 ')
  })
})
