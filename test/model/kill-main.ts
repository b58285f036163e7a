/** `npm run kill -- model --runs 200`: kills the model agent at random moments and says what came of it. */
import { parseArgs } from 'node:util'
import { setup as build } from '../build.setup.ts'
import { type KillResult, killRun } from './kill.ts'

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '40' },
    seed: { type: 'string', default: '1' },
    jobs: { type: 'string', default: '2' },
  },
})

await build()
const [runs, seed, jobs] = [Number(values.runs), Number(values.seed), Number(values.jobs)]
const results: KillResult[] = []
let next = seed

async function work(): Promise<void> {
  while (next < seed + runs) {
    const result = await killRun(next++)
    results.push(result)
    for (const finding of result.findings)
      process.stdout.write(`seed ${result.seed}, cut by ${result.cut}: ${finding}\n`)
    if (results.length % 20 === 0) process.stdout.write(`${results.length} of ${runs} runs\n`)
  }
}

await Promise.all(Array.from({ length: jobs }, work))
const cuts = countsOf(results)
for (const [cut, count] of cuts) process.stdout.write(`${String(count).padStart(5)} cut by ${cut}\n`)
const bad = results.filter(({ findings }) => findings.length > 0)
process.stdout.write(`${results.length} runs, ${bad.length} with findings\n`)
process.exitCode = bad.length === 0 ? 0 : 1

function countsOf(all: readonly KillResult[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const { cut } of all) {
    const name = cut.replace(/ \d+$/u, '')
    counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  return counts
}
