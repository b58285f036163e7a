/** Every promise at once, on the real binary, whatever goes wrong: `npm run chaos` in as few runs as show each thing once. */
import { expect, test } from 'vitest'
import { totals } from '../report.ts'
import { everything } from './all.ts'
import { chaosOf, conditions, deeds } from './plan.ts'
import { milder, runChaosSeries } from './series.ts'

/** On a machine that is busy with other things. Milliseconds. */
const LONG = 600_000

test(
  'whatever goes wrong, alone or at once: what was seen is stored, every prompt has one end, no process stays',
  async () => {
    const results = await runChaosSeries(everything(1), { jobs: 3, onRun: () => undefined })
    const found = results.flatMap(({ plan, findings }) => findings.map(({ what }) => `${plan.condition.kind}: ${what}`))
    expect(found).toEqual([])
    expect(totals(results)).toBe('0 lost, 0 doubled, 0 without an end')
    const done = new Set(results.flatMap((result) => result.done.map(({ deed }) => deed)))
    const untried = new Set<string>(results.flatMap(({ plan, isMild }) => (isMild ? [plan.condition.kind] : [])))
    for (const sentence of milder(results)) console.warn(sentence)
    expect([...deeds, ...conditions].filter((one) => !done.has(one) && !untried.has(one))).toEqual([])
  },
  LONG,
)

test('a seed of chaos that is typed in again gives the same plan', () => {
  expect(chaosOf(7)).toEqual(chaosOf(7))
  expect(chaosOf(7)).not.toEqual(chaosOf(8))
})
