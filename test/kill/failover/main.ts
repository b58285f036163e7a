/**
 * `npm run kill -- failover`: the primary of a cluster is killed under load, again and again, and what was acknowledged is compared with
 * what its standby has.
 */
import { parseArgs } from 'node:util'
import { Replicas } from '../../postgres/replicas.ts'
import { SERIES_OPTIONS, playSeries, seriesOf } from '../../series/series.ts'
import { type FailoverResult, type Standby, failOver, findingsIn } from './run.ts'

const { values } = parseArgs({ options: { ...SERIES_OPTIONS, asynchronous: { type: 'boolean', default: false } } })

const USAGE = `npm run kill -- failover [--runs N | --seconds N] [--seed S] [--asynchronous]
  --runs          how many times the primary is killed (20)
  --seconds       as many times as fit into that time instead
  --seed          the seed of the first run; the next one has the next (random)
  --asynchronous  the standby is not waited for: entries must get lost, and JOURNAL_WENT_BACK must name each session`

async function main(): Promise<number> {
  if (values.help) {
    console.log(USAGE)
    return 0
  }
  const standby: Standby = values.asynchronous ? 'asynchronous' : 'synchronous'
  const replicas = await Replicas.start()
  try {
    // One at a time: they share the database.
    const results = await playSeries(
      { ...seriesOf(values, { runs: 20, jobs: 1 }), jobs: 1 },
      {
        play: async (seed) => [await failOver(replicas, seed, standby)],
        findings: (result) => findingsIn(result, standby),
        title: ({ seed }) => `seed ${seed}:`,
        again: ({ seed }) =>
          `npm run kill -- failover --runs 1 --seed ${seed}${values.asynchronous ? ' --asynchronous' : ''}`,
      },
    )
    report(results, standby)
    return results.every((result) => findingsIn(result, standby).length === 0) ? 0 : 1
  } finally {
    await replicas.close()
  }
}

function report(results: readonly FailoverResult[], standby: Standby): void {
  const sum = (of: (result: FailoverResult) => number) => results.reduce((total, result) => total + of(result), 0)
  const pauses = results.map(({ pauseMs }) => pauseMs).toSorted((left, right) => left - right)
  const ms = (pause = Number.NaN) => `${pause.toFixed(0)} ms`
  console.log(`${results.length} times the primary was killed and its ${standby} standby promoted:`)
  console.log(`  ${sum((one) => one.acknowledged)} appends acknowledged, ${sum((one) => one.lost)} of them lost`)
  console.log(
    `  ${sum((one) => one.losers.length)} sessions lost entries, ${sum((one) => one.named.length)} were named`,
  )
  console.log(`  ${sum((one) => one.wrong.length)} sessions with entries doubled or out of order`)
  console.log(
    `  pause until the next acknowledgement: p50 ${ms(pauses[pauses.length >> 1])}, at most ${ms(pauses.at(-1))}`,
  )
}

process.exit(await main())
