/**
 * `npm run chaos`: several clients on a real server, and whatever can go wrong goes wrong. `npm run kill` is its special case of
 * one client and one server in one process, `-- --stall` that of a client that reads nothing for a minute; they go deeper where
 * this goes wide.
 */
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { setup as build } from '../../build.setup.ts'
import { binary } from '../../e2e/parley.ts'
import { SERIES_OPTIONS, playSeries, seriesOf } from '../../series/series.ts'
import { chaosInClusters, reportClusters } from '../cluster/series.ts'
import { agentChaosOf } from './agents/plan.ts'
import { chaosOf } from './plan.ts'
import { chaosIn, reportChaos } from './series.ts'

const USAGE = `npm run chaos -- [--runs N | --seconds N] [--seed S] [--seeds S,S…] [--jobs N] [--agent fake] [--cluster] [--bin FILE] [--keep]
  --runs     how many runs (20)
  --seconds  as many runs as begin in that time instead
  --seed     the seed of the first run; the next one has the next (random)
  --seeds    these runs instead, in one town as far as they can share one: what a failure says to repeat it
  --jobs     how many towns at a time (three per core: much of a run is waiting)
  --agent    fake: an external agent that loads, resumes or neither, and loses, doubles, reorders, crashes or hangs
  --cluster  three nodes over a PostgreSQL with a standby; what befalls them, their database and the ways between
  --bin      another build of the binary, such as one that is broken on purpose
  --keep     keeps the state directories`

/** More than any time allows that somebody waits for. */
const MOST = 1_000

const { values } = parseArgs({
  options: {
    ...SERIES_OPTIONS,
    seeds: { type: 'string' },
    agent: { type: 'string', default: 'script' },
    cluster: { type: 'boolean', default: false },
    bin: { type: 'string' },
    keep: { type: 'boolean', default: false },
  },
})

async function main(): Promise<number> {
  if (values.help) {
    console.log(USAGE)
    return 0
  }
  if (values.bin === undefined) await build()
  const began = performance.now()
  if (!['script', 'fake'].includes(values.agent)) throw new Error(`there is no agent ${values.agent} of chaos`)
  const first = values.seeds?.split(',')[0] ?? values.seed
  const { seed, runs, ...series } = seriesOf({ ...values, seed: first }, { runs: 20, jobs: 3 * availableParallelism() })
  const seeds = values.seeds?.split(',').map(Number) ?? Array.from({ length: Math.min(runs, MOST) }, (_, n) => seed + n)
  const { deadline = Infinity } = series
  const lasted = () => (performance.now() - began) / 1_000
  if (values.cluster) {
    const options = { bin: values.bin ?? binary, keep: values.keep, deadline }
    const clusters = chaosInClusters(seeds, options)
    return reportClusters(
      await playSeries({ ...series, ...clusters, jobs: Number(values.jobs ?? 2) }, clusters),
      lasted(),
    )
  }
  const plans = seeds.map(values.agent === 'fake' ? agentChaosOf : chaosOf)
  const chaos = chaosIn(plans, { keep: values.keep, deadline, ...(values.bin && { bin: values.bin }) })
  const results = await playSeries({ ...series, ...chaos }, chaos)
  return reportChaos(results, lasted())
}

// What libraries left open does not keep it: Node once spun for ever while it cleaned up after thousands of connections.
process.exit(await main())
