import { describe, expect, test } from 'vitest'
import { paintFor } from '../terminal/colors.ts'
import { widthOf } from '../terminal/text.ts'
import { type SessionTableRow, sessionTable } from './session-table.ts'

const row = (title: string, directory: string, more: Partial<SessionTableRow> = {}): SessionTableRow => {
  return { id: '1f3a6a50', phase: undefined, when: 'just now', agent: 'claude', title, directory, ...more }
}
const sessions = [
  row('Where are sessions stored, and how long do they stay there when nobody opens them any more?', '~/notes'),
  row('软RAID阵列由多个磁盘组成，其中一个坏了怎么办，数据还能恢复吗', '~/工作/项目/存储/阵列/文档/二〇二六年', {
    phase: 'working',
  }),
  row('Short', '/srv/very/long/path/to/some/project/that/has/its/name/at/the/end/parley', { when: '2026-01-31' }),
]
const table = (width: number, of = sessions) => sessionTable(of, paintFor(false), width)

describe.each([60, 80, 140])('at %s columns', (width) => {
  test('no row is wider, and the width is used', () => {
    const widths = table(width).map(widthOf)
    expect(Math.max(...widths)).toBeLessThanOrEqual(width)
    expect(Math.max(...widths)).toBeGreaterThan(Math.min(width, 120) - 4)
  })

  test('columns are aligned with their headings', () => {
    const [heading = '', ...rows] = table(width)
    const at = (name: string) => widthOf(heading.slice(0, heading.indexOf(name)))
    for (const one of rows) expect(widthOf(one.slice(0, one.search(/just now|2026-01-31/u)))).toBe(at('LAST'))
    expect(rows[2]?.slice(at('TITLE'))).toMatch(/^Short/u)
  })

  test('a directory that is cut keeps its end', () => {
    const [, , , last = ''] = table(width)
    expect(last).toMatch(/parley$/u)
  })
})

test('short columns take only the width that they need', () => {
  expect(table(80, [row('One', '~/a'), row('Another', '~/b', { phase: 'closed' })])).toEqual([
    'ID          LAST      AGENT   TITLE    DIRECTORY',
    '1f3a6a50    just now  claude  One      ~/a',
    '1f3a6a50 ×  just now  claude  Another  ~/b',
  ])
})
