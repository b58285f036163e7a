/** `npm run sim`: plays seeds of the simulation, and prints a failing one so that it can be typed in again. */
import { parseArgs } from 'node:util'
import { SERIES_OPTIONS, playSeries, seriesOf } from '../series/series.ts'
import { loadSimulation } from './bundle.ts'
import { failureOf } from './report.ts'

const USAGE = `npm run sim -- [--seed N] [--runs M | --seconds S] [--clients K] [--keep-going]
  --seed        the first seed; the next run has the next (random)
  --runs        how many (1 with --seed, else 1,000)
  --seconds     as many as begin in that time instead
  --clients     the most that one run may have (100)
  --keep-going  does not stop at the first seed that fails`

const { values } = parseArgs({
  options: {
    ...SERIES_OPTIONS,
    clients: { type: 'string', default: '100' },
    'keep-going': { type: 'boolean', default: false },
  },
})

async function main(): Promise<number> {
  if (values.help) {
    console.log(USAGE)
    return 0
  }
  const clients = Number(values.clients)
  const { playSeed, shrink } = await loadSimulation()
  const series = seriesOf(values, { runs: values.seed === undefined ? 1_000 : 1, jobs: 1 })
  const began = performance.now()
  const results = await playSeries(
    { ...series, stopsAtFailure: !values['keep-going'] },
    {
      async play(seed) {
        const outcome = await playSeed(seed, clients)
        const isSound = outcome.findings.length === 0
        return [{ outcome, why: isSound ? [] : [failureOf(outcome, await shrink(seed, clients))] }]
      },
      findings: ({ why }) => why,
      title: ({ outcome }) => `seed ${outcome.seed}:`,
      again: ({ outcome }) => `npm run sim -- --seed ${outcome.seed} --clients ${clients}`,
    },
  )
  const most = Math.max(0, ...results.map(({ outcome }) => outcome.clients))
  const failed = results.filter(({ why }) => why.length > 0).length
  const seconds = ((performance.now() - began) / 1_000).toFixed(0)
  console.log(`${results.length} seeds with up to ${most} clients in ${seconds} s: ${failed} failed`)
  return failed === 0 ? 0 : 1
}

// What libraries left open does not keep it: Node once spun for ever while it cleaned up after thousands of connections.
process.exit(await main())
