/** Promises 1, 2 and 3 on the real binary: the power goes at six fixed moments, and nothing is lost, doubled or left open. */
import { expect, test } from 'vitest'
import { runMany } from './many.ts'
import { planOf } from './plan.ts'
import { totals } from './report.ts'

test('after kill -9 a load tells all that any client had seen, once, and every turn ends once', async () => {
  const results = await runMany({ runs: 6, seed: 2026, faultShare: 0.3, jobs: 3, onRun: () => undefined })
  expect(results.flatMap(({ plan, findings }) => findings.map(({ what }) => `seed ${plan.seed}: ${what}`))).toEqual([])
  expect(totals(results)).toBe('0 lost, 0 doubled, 0 without an end')
}, 600_000)

test('a seed that is typed in again gives the same plan', () => {
  expect(planOf(7, 0.3)).toEqual(planOf(7, 0.3))
  expect(planOf(7, 0.3)).not.toEqual(planOf(8, 0.3))
})
