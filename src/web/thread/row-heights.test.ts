import { expect, test } from 'vitest'
import { MAX_ROWS, RowHeights } from './row-heights.ts'

const keys = (count: number, prefix = 'r') => Array.from({ length: count }, (_, n) => `${prefix}${n}`)

function heights(count: number, guess = 50): RowHeights {
  const all = new RowHeights(guess)
  all.setKeys(keys(count))
  return all
}

test('rows that were not measured are as high as the guess', () => {
  const rows = heights(10)
  expect([rows.total, rows.topOf(3)]).toEqual([500, 150])
  expect([149, 150, -5, 9_999].map((top) => rows.at(top))).toEqual([2, 3, 0, 9])
})

test('a measured row moves those below it and none above', () => {
  const rows = heights(10)
  expect(rows.measured('r4', 200)).toBe(true)
  expect(rows.measured('r4', 200)).toBe(false)
  expect([rows.topOf(4), rows.topOf(5), rows.total, rows.at(399)]).toEqual([200, 400, 650, 4])
})

test('rows that come before keep the heights of those that were there', () => {
  const rows = heights(3)
  rows.measured('r1', 100)
  rows.setKeys([...keys(2, 'older'), ...keys(3)])
  expect([rows.indexOf('r1'), rows.topOf(rows.indexOf('r1')), rows.total]).toEqual([3, 150, 300])
  expect(rows.indexOf('gone')).toBe(-1)
})

test('rows that go leave no trace', () => {
  const rows = heights(5)
  rows.measured('r4', 500)
  rows.setKeys(keys(4))
  expect([rows.total, rows.indexOf('r4')]).toEqual([200, -1])
})

test('the document has the view and about one more on both sides', () => {
  const rows = heights(100_000)
  expect(rows.span(0, 500)).toEqual({ from: 0, to: 21 })
  const { from, to } = rows.span(2_000_000, 500)
  expect([from, to]).toEqual([39_990, 40_021])
})

test.each([1, 20, 800])('it has never more than the most, also of rows of %i px', (height) => {
  const rows = new RowHeights(height)
  rows.setKeys(keys(10_000))
  for (const top of [0, height * 5_000, height * 10_000]) {
    const { from, to } = rows.span(top, 1_200)
    expect(to - from).toBeLessThanOrEqual(MAX_ROWS)
    expect(to).toBeGreaterThan(from)
    expect(from).toBeLessThanOrEqual(rows.at(top))
  }
})

test('an empty list has nothing', () => expect(heights(0).span(0, 500)).toEqual({ from: 0, to: 0 }))

test('the end has rows for a view and a half above it, and always some', () => {
  const rows = heights(100)
  // None was measured: they may all be low.
  expect(rows.endSpan(600)).toEqual({ from: 60, to: 100 })
  for (const key of keys(100)) rows.measured(key, 400)
  expect(rows.endSpan(600)).toEqual({ from: 96, to: 100 })
  rows.measured('r99', 50_000)
  expect(rows.endSpan(600)).toEqual({ from: 97, to: 100 })
  expect(heights(2).endSpan(600)).toEqual({ from: 0, to: 2 })
})
