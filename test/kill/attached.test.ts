/** Promises 1, 2, 4 and 8 with several clients on the real binary; `npm run kill -- --three` and `-- --stall` are the long ones. */
import { expect, test } from 'vitest'
import { MOST_MEMORY } from './report-stall.ts'
import { runThrees } from './series.ts'
import { runStall } from './stall.ts'

test('kill -9 under two relays and a follower: each has every entry once, each prompt one answer, and the next one works', async () => {
  const results = await runThrees({ runs: 2, seed: 2026, jobs: 2 })
  expect(results.flatMap(({ seed, findings }) => findings.map(({ what }) => `seed ${seed}: ${what}`))).toEqual([])
  expect(results.filter(({ inMidTurn }) => inMidTurn).length).toBeGreaterThanOrEqual(2)
}, 180_000)

test('a client that reads nothing costs the server little, and has all of it once when it reads on', async () => {
  const { before, highest, faults } = await runStall({ updates: 20_000, stallMs: 500 })
  expect(faults).toEqual([])
  expect(highest - before).toBeLessThan(MOST_MEMORY)
}, 120_000)
