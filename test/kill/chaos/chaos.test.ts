/** Every promise at once, on the real binary: `npm run chaos` is the long one. */
import { expect, test } from 'vitest'
import { chaosOf } from './plan.ts'
import { runChaosSeries, sentence } from './series.ts'

test('whoever and whatever is killed, stopped, torn or full: nothing seen is lost, nothing doubled, every prompt ends, nobody stays', async () => {
  const results = await runChaosSeries({ runs: 4, seed: 2026, jobs: 2, onRun: () => undefined })
  const told = results.flatMap(({ plan, findings }) => findings.map((one) => `seed ${plan.seed}: ${sentence(one)}`))
  expect(told).toEqual([])
  expect(results.every(({ done }) => done.length > 0)).toBe(true)
}, 180_000)

test('a seed of chaos that is typed in again gives the same plan', () => {
  expect(chaosOf(7)).toEqual(chaosOf(7))
  expect(chaosOf(7)).not.toEqual(chaosOf(8))
})
