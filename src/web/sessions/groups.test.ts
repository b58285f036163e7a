import { expect, test } from 'vitest'
import { type SessionRow, groupOf, listAfter, shortPath, shownOf } from './groups.ts'

const row = (more: Partial<SessionRow> = {}): SessionRow => ({ sessionId: 's', cwd: '/home/ada/app', ...more })
const waiting = { requestId: 'q', title: 'Run', options: [] }

test.each([
  [row({ phase: 'working' }), 'working'],
  [row({ phase: 'cancelling' }), 'working'],
  [row({ phase: 'working', waiting }), 'waits'],
  [row({ phase: 'waiting' }), 'waits'],
  [row({ phase: 'suspended' }), 'waits'],
  [row({ lastEnd: { stopReason: 'interrupted' }, unread: true }), 'broken'],
  [row({ lastEnd: { stopReason: 'error' } }), 'broken'],
  [row({ unread: true, lastEnd: { stopReason: 'end_turn' } }), 'unread'],
  [row(), 'rest'],
] as const)('%j is in %j', (one, group) => expect(groupOf(one)).toBe(group))

const ALL = { text: '', group: '' }

test('groups come in the order of what they need, and without empty ones', () => {
  const rows = [row(), row({ phase: 'working' }), row({ waiting })]
  expect(shownOf(rows, ALL, 60).groups.map(({ group }) => group)).toEqual(['waits', 'working', 'rest'])
})

test('a filter looks at title, directory and agent in any case, and at the group', () => {
  const one = row({ title: 'Fix the Relay', agent: 'guide' })
  const shows = (text: string, group = '') => shownOf([one], { text, group }, 60).groups.length > 0
  expect(['relay', ' ADA ', 'guide', 'none', ''].map((text) => shows(text))).toEqual([true, true, true, false, true])
  expect(shows('', 'waits')).toBe(false)
})

test('of many sessions an old one that waits comes before new ones; all are counted', () => {
  const rows = [...Array.from({ length: 10_000 }, (_one, n) => row({ sessionId: `s${n}` })), row({ waiting })]
  const { groups, more, counts } = shownOf(rows, ALL, 60)
  expect(groups.map((one) => `${one.group} ${one.rows.length}`)).toEqual(['waits 1', 'rest 59'])
  expect(more).toBe(9_941)
  expect(counts).toEqual({ waits: 1, working: 0, broken: 0, unread: 0, rest: 10_000 })
  expect(shownOf(rows, { text: '', group: 'waits' }, 60)).toMatchObject({ more: 0, counts: { rest: 10_000 } })
})

const at = (second: number, more: Partial<SessionRow> = {}) =>
  row({ sessionId: `s${second}`, updatedAt: new Date(second * 1_000).toISOString(), ...more })

test('a list has the newest first, however it comes', () => {
  const first = listAfter([at(9)], { reset: true, sessions: [at(5), at(4)], removed: [] })
  const whole = listAfter(first, { reset: false, sessions: [at(2), at(1)], removed: [] })
  expect(whole.map(({ sessionId }) => sessionId)).toEqual(['s5', 's4', 's2', 's1'])
  const changed = { ...at(6), sessionId: 's2' }
  const later = listAfter(whole, { reset: false, sessions: [changed, at(3)], removed: ['s4'] })
  expect(later.map(({ sessionId }) => sessionId)).toEqual(['s2', 's5', 's3', 's1'])
})

test('a long path is known by its end', () =>
  expect(['/w', '/home/ada', '/home/ada/src/app'].map(shortPath)).toEqual(['/w', '/home/ada', '…/src/app']))
