/** Promises 1, 2 and 3 on the real binary: the power goes at six fixed moments, and nothing is lost, doubled or left open. */
import { expect, test } from 'vitest'
import { playSeries, seedsFrom } from '../series/series.ts'
import { planOf } from './plan.ts'
import { totals } from './report.ts'
import { killing } from './run.ts'

test('after kill -9 a load tells all that any client had seen, once, and every turn ends once', async () => {
  const again = (seed: number) => `npm run kill -- --runs 1 --seed ${seed}`
  const results = await playSeries({ units: seedsFrom(2026), runs: 6, jobs: 3 }, killing(0.3, again))
  expect(results.flatMap(({ plan, findings }) => findings.map(({ what }) => `seed ${plan.seed}: ${what}`))).toEqual([])
  expect(totals(results)).toBe('0 lost, 0 doubled, 0 without an end')
}, 600_000)

test.each(['websocket', 'http'] as const)(
  'so it is for a client over %s, on a network that fails all the while',
  async (over) => {
    const again = (seed: number) => `npm run kill -- --runs 1 --over ${over} --seed ${seed}`
    const results = await playSeries({ units: seedsFrom(3030), runs: 3, jobs: 3 }, killing(0.3, again, { over }))
    expect(results.flatMap(({ plan, findings }) => findings.map(({ what }) => `seed ${plan.seed}: ${what}`))).toEqual(
      [],
    )
    expect(totals(results)).toBe('0 lost, 0 doubled, 0 without an end')
  },
  600_000,
)

test('a seed that is typed in again gives the same plan', () => {
  expect(planOf(7, 0.3)).toEqual(planOf(7, 0.3))
  expect(planOf(7, 0.3)).not.toEqual(planOf(8, 0.3))
})
