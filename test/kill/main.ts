/** `npm run kill`: cuts the power of the real binary at random moments, and says what was lost, doubled or left open. */
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { setup as build } from '../build.setup.ts'
import { SERIES_OPTIONS, playSeries, seriesOf } from '../series/series.ts'
import type { Over } from './far-client.ts'
import { report } from './report.ts'
import { reportMutants } from '../mutants/series.ts'
import { killing } from './run.ts'
import { mutants } from './mutants.ts'
import { reportStall } from './report-stall.ts'
import { runStall } from './stall.ts'
import { openTracing } from './tracing.ts'

const USAGE = `npm run kill -- [--runs N | --seconds N] [--seed S] [--faults SHARE] [--trace] [--jobs N] [--bin FILE] [--keep]
  --runs    how many runs count (40; 4 with --trace)
  --seconds as many runs as begin in that time instead; with --stall, how long it lasts
  --seed    the seed of the first run; the next one has the next (random)
  --faults  the share of runs that are cut at a named point inside the server instead of by the clock (0.3)
  --over    websocket or http: the client is remote, behind a proxy that cuts, freezes, reorders and breaks
            connections all the while; without it, at the pipe of the server
  --stall   one client reads nothing for a minute under a flood of 200,000 updates instead; --updates N
  --trace   under strace: was every update on the disk before it was told?
  --mutants takes each mechanism out in a copy of the sources, to see its test fail; --only TEXT, --jobs N
  --bin     another build of the binary, such as one that is broken on purpose
  --keep    keeps the state directories`

const { values } = parseArgs({
  options: {
    ...SERIES_OPTIONS,
    faults: { type: 'string', default: '0.3' },
    bin: { type: 'string' },
    stall: { type: 'boolean', default: false },
    updates: { type: 'string', default: '200000' },
    trace: { type: 'boolean', default: false },
    mutants: { type: 'boolean', default: false },
    only: { type: 'string' },
    over: { type: 'string' },
    keep: { type: 'boolean', default: false },
  },
})

async function main(): Promise<number> {
  if (values.help) {
    console.log(USAGE)
    return 0
  }
  if (values.mutants) return reportMutants(mutants, { jobs: Number(values.jobs ?? 2), only: values.only })
  if (values.stall) return stallOne()
  return killUnderOne()
}

async function stallOne(): Promise<number> {
  if (values.bin === undefined) await build()
  const updates = Number(values.updates)
  const plan = { updates, stallMs: Number(values.seconds ?? 60) * 1_000, ...(values.bin && { bin: values.bin }) }
  return reportStall(updates, await runStall(plan))
}

async function killUnderOne(): Promise<number> {
  const tracing = values.trace ? openTracing() : undefined
  if (typeof tracing === 'string') {
    console.error(tracing)
    return 1
  }
  if (values.bin === undefined) await build()
  const began = performance.now()
  const over = overOf(values.over)
  const more = { ...(tracing && { trace: tracing }), ...(over && { over }) }
  const options = { keep: values.keep, ...(values.bin && { bin: values.bin }), ...more }
  const series = seriesOf(values, { runs: values.trace ? 4 : 40, jobs: availableParallelism() + 1 })
  const results = await playSeries(series, killing(Number(values.faults), repeat, options))
  if (tracing) {
    const { covered, syncs } = tracing.totals
    console.log(`\n${covered} chunks were told after one of ${syncs} syncs of the log had put them on the disk`)
  }
  return report(results, (performance.now() - began) / 1_000)
}

function overOf(text: string | undefined): Over | undefined {
  if (text === undefined || text === 'websocket' || text === 'http') return text
  throw new Error(`there is no client over ${text}`)
}

/** What to type to see a failure again. */
function repeat(seed: number): string {
  const over = values.over === undefined ? '' : ` --over ${values.over}`
  const more = `${over}${values.trace ? ' --trace' : ''}${values.faults === '0.3' ? '' : ` --faults ${values.faults}`}`
  return `npm run kill -- --runs 1 --seed ${seed}${more}`
}

// What libraries left open does not keep it: Node once spun for ever while it cleaned up after thousands of connections.
process.exit(await main())
