import { expect, test } from 'vitest'
import { backoffMs } from './backoff.ts'

test('pauses grow after each failure, up to the maximum', () => {
  const pauses = [1, 2, 3, 4].map((failures) => backoffMs(failures, { firstMs: 100, longestMs: 500 }))
  expect(pauses).toEqual([100, 200, 400, 500])
  expect(backoffMs(2, { firstMs: 100, longestMs: 500, factor: 1.5 })).toBe(150)
})
