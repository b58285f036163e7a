import { expect, test } from 'vitest'
import { type SessionRow, fits, groupOf, grouped, shortPath } from './groups.ts'

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

test('groups come in the order of what they need, and without empty ones', () => {
  const rows = [row(), row({ phase: 'working' }), row({ waiting })]
  expect(grouped(rows).map(({ group }) => group)).toEqual(['waits', 'working', 'rest'])
})

test('a filter looks at title, directory and agent in any case, and at the group', () => {
  const one = row({ title: 'Fix the Relay', agent: 'guide' })
  expect(['relay', 'ADA', 'guide', 'none'].map((text) => fits(one, { text, group: '' }))).toEqual([
    true,
    true,
    true,
    false,
  ])
  expect(fits(one, { text: '', group: 'waits' })).toBe(false)
})

test('a long path is known by its end', () =>
  expect(['/w', '/home/ada', '/home/ada/src/app'].map(shortPath)).toEqual(['/w', '/home/ada', '…/src/app']))
