/** `npm run kill -- model [--runs N | --seconds N] [--seed S]`: kills the model agent at random moments. */
import { parseArgs } from 'node:util'
import { setup as build } from '../build.setup.ts'
import { SERIES_OPTIONS, countsOf, playSeries, seriesOf } from '../series/series.ts'
import { killRun } from './kill.ts'

const { values } = parseArgs({ options: SERIES_OPTIONS })

await build()
const results = await playSeries(seriesOf(values, { runs: 40, jobs: 2 }), {
  play: async (seed) => [await killRun(seed)],
  findings: ({ findings }) => findings,
  title: ({ seed, cut }) => `seed ${seed}, cut by ${cut}:`,
  again: ({ seed }) => `npm run kill -- model --runs 1 --seed ${seed}`,
})
for (const [cut, count] of countsOf(results.map(({ cut: where }) => where.replace(/ \d+$/u, ''))))
  console.log(`${String(count).padStart(5)} cut by ${cut}`)
const bad = results.filter(({ findings }) => findings.length > 0)
console.log(`${results.length} runs, ${bad.length} with findings`)
process.exitCode = bad.length === 0 ? 0 : 1
