/** Promise 8 on the real binary; `npm run kill -- --stall` is the long one, `npm run chaos` has several clients and kills. */
import { expect, test } from 'vitest'
import { MOST_MEMORY } from './report-stall.ts'
import { runStall } from './stall.ts'

test('a client that reads nothing costs the server little, and has all of it once when it reads on', async () => {
  const { before, highest, faults } = await runStall({ updates: 20_000, stallMs: 500 })
  expect(faults).toEqual([])
  expect(highest - before).toBeLessThan(MOST_MEMORY)
}, 120_000)
