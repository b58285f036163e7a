/** Every promise at once, on the real binary, whatever goes wrong: `npm run chaos` in as few runs as show each thing once. */
import { expect, test } from 'vitest'
import { totals } from '../report.ts'
import { everything } from './all.ts'
import { chaosOf, conditions, deeds } from './plan.ts'
import { townsOf } from './rounds.ts'
import { playSeries } from '../../series/series.ts'
import { chaosIn, milder } from './series.ts'

/** On a machine that is busy with other things. Milliseconds. */
const LONG = 600_000

test(
  'whatever goes wrong, alone or at once: what was seen is stored, every prompt has one end, no process stays',
  async () => {
    const chaos = chaosIn(everything(1))
    const results = await playSeries({ ...chaos, jobs: 3 }, chaos)
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

test('runs that share a town are played once each, whoever leaves a ruin last, and in the same order when typed in again', () => {
  const plans = Array.from({ length: 100 }, (_, seed) => chaosOf(seed))
  const towns = townsOf(plans)
  expect(towns.flat().toSorted((one, other) => one.seed - other.seed)).toEqual(plans)
  for (const town of towns) {
    const ruins = town.map(({ moments }) => moments.some(({ deeds }) => deeds.some((deed) => deed.endsWith('short'))))
    expect(ruins.slice(0, -1)).not.toContain(true)
    expect(townsOf(town.map(({ seed }) => chaosOf(seed)))).toEqual([town])
  }
})

test('a seed of chaos that is typed in again gives the same plan', () => {
  expect(chaosOf(7)).toEqual(chaosOf(7))
  expect(chaosOf(7)).not.toEqual(chaosOf(8))
})
