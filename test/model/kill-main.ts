/** `npm run kill -- model [--runs N | --seconds N] [--seed S]`: kills the model agent at random moments. */
import { parseArgs } from 'node:util'
import { setup as build } from '../build.setup.ts'
import { type KillResult, killRun } from './kill.ts'

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '40' },
    seconds: { type: 'string' },
    seed: { type: 'string' },
    jobs: { type: 'string', default: '2' },
  },
})

await build()
const deadline = values.seconds === undefined ? Infinity : performance.now() + Number(values.seconds) * 1_000
const runs = values.seconds === undefined ? Number(values.runs) : Infinity
const seed = Number(values.seed ?? Math.floor(Math.random() * 1_000_000))
const jobs = Number(values.jobs)
process.stdout.write(`seeds from ${seed} on\n`)
const results: KillResult[] = []
let next = seed

async function work(): Promise<void> {
  while (next < seed + runs && performance.now() < deadline) {
    const result = await killRun(next++)
    results.push(result)
    for (const finding of result.findings)
      process.stdout.write(`seed ${result.seed}, cut by ${result.cut}: ${finding}\n`)
    if (results.length % 20 === 0) process.stdout.write(`${results.length} runs\n`)
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
