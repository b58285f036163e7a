/** The last row of a chat, in terminals of any width. */
import { describe, expect, test } from 'vitest'
import { paintFor } from '../output/terminal/colors.ts'
import { widthOf } from '../output/terminal/text.ts'
import { type StatusLineState, statusRow, contextUsageIn } from './status-line.ts'

const choices = [
  { value: 'ask', name: 'Ask' },
  { value: 'o:large', name: 'Large 软' },
]
const setting = { choices, by: 'option' } as const
const standing: StatusLineState = {
  urgent: '',
  doing: '',
  agent: 'guide',
  settings: [
    { ...setting, id: 'model', name: 'Model', category: 'model', value: 'o:large' },
    { ...setting, id: 'mode', name: 'Permission', category: 'mode', value: 'ask' },
  ],
  usage: { used: 50_000, size: 200_000, cost: '0.50 USD' },
  waiting: 2,
  others: ['ada@laptop (chat)', 'Zed', 'ada@laptop (chat)'],
  sessionId: '1f3a9c2b-0000',
}

function row(columns: number, more: Partial<StatusLineState> = {}): string {
  return statusRow({ ...standing, ...more }, { paint: paintFor(false), width: () => columns })
}

describe('the status line', () => {
  test('first shows why the agent sends nothing', () =>
    expect(row(60, { doing: 'claude starts (initialize)' })).toContain('  claude starts (initialize) · '))

  test.each([
    [140, '  Large 软 · Ask · 25 % of 200k · 0.50 USD · 2 queued · with ada@laptop (chat) ×2, Zed · 1f3a9c2b'],
    [80, '  Large 软 · Ask · 25 % of 200k · 0.50 USD · 2 queued · 1f3a9c2b'],
    [60, '  Large 软 · Ask · 25 % of 200k · 0.50 USD · 1f3a9c2b'],
    [30, '  Large 软 · Ask · 1f3a9c2b'],
    [20, '  1f3a9c2b'],
  ])('drops the least important parts where there is no room, in %i columns', (columns, said) =>
    expect(row(columns)).toBe(said),
  )

  test('names the agent where no model is set', () => expect(row(40, { settings: [] })).toMatch(/^ {2}guide · /u))

  test('begins with the most urgent part, and is never wider than the terminal', () => {
    const urgent = 'Press Ctrl-C again to leave, or Ctrl-D.'
    expect(row(60, { urgent })).toBe(`  ${urgent} · 1f3a9c2b`)
    for (let columns = 20; columns < 100; columns += 1)
      expect(widthOf(row(columns, { urgent }))).toBeLessThanOrEqual(columns)
  })

  test('contains no control characters of names', () =>
    expect(row(140, { others: ['a\u001b[2Jb\nc'] })).toContain('with ab c'))
})

const usage = { sessionUpdate: 'usage_update', used: 5, size: 10 }
test.each([
  [usage, { used: 5, size: 10, cost: undefined }],
  [
    { ...usage, cost: { amount: 'x' } },
    { used: 5, size: 10, cost: undefined },
  ],
  [{ ...usage, used: '5' }, undefined],
  [{ ...usage, sessionUpdate: 'plan' }, undefined],
])('usage in %j', (update, read) => expect(contextUsageIn(update)).toEqual(read))
