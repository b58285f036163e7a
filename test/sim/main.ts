/** `npm run sim`: plays seeds of the simulation, and prints a failing one so that it can be typed in again. */
import { parseArgs } from 'node:util'
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
    seed: { type: 'string' },
    runs: { type: 'string' },
    seconds: { type: 'string' },
    clients: { type: 'string', default: '100' },
    'keep-going': { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})

async function main(): Promise<number> {
  if (values.help) {
    console.log(USAGE)
    return 0
  }
  const first = Number(values.seed ?? 1 + Math.floor(Math.random() * 1_000_000_000))
  const isTimed = values.seconds !== undefined
  const runs = Number(values.runs ?? (isTimed ? Infinity : values.seed === undefined ? 1_000 : 1))
  const clients = Number(values.clients)
  const { playSeed, shrink } = await loadSimulation()
  const began = performance.now()
  const deadline = isTimed ? began + Number(values.seconds) * 1_000 : Infinity
  let most = 0
  let failed = 0
  let played = 0
  for (; played < runs && (failed === 0 || values['keep-going']); played += 1) {
    if (performance.now() > deadline) break
    const outcome = await playSeed(first + played, clients)
    most = Math.max(most, outcome.clients)
    if (outcome.findings.length === 0) continue
    failed += 1
    console.log(failureOf(outcome, await shrink(outcome.seed, clients), clients))
  }
  const seconds = ((performance.now() - began) / 1_000).toFixed(0)
  console.log(`${played} seeds from ${first} with up to ${most} clients in ${seconds} s: ${failed} failed`)
  return failed === 0 ? 0 : 1
}

process.exitCode = await main()
