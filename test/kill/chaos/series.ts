/** Many runs of chaos, some at a time, and what they come to as a page to read. */
import type { Finding } from '../evidence.ts'
import { phases } from '../phase.ts'
import { totals } from '../report.ts'
import type { ChaosPlan } from './plan.ts'
import { townsOf } from './rounds.ts'
import { type ChaosOptions, type ChaosResult, runTown } from './run.ts'

const SHOWN = 3
/** Runs between two signs of life. */
const PROGRESS = 20

export interface ChaosSeries extends ChaosOptions {
  /** How many at a time. */
  readonly jobs: number
  readonly onRun?: (result: ChaosResult) => void
}

export async function runChaosSeries(
  plans: readonly ChaosPlan[],
  { jobs, onRun = tell, ...options }: ChaosSeries,
): Promise<readonly ChaosResult[]> {
  const results: ChaosResult[] = []
  const began = performance.now()
  const towns = [...townsOf(plans)]
  const isOver = (): boolean => performance.now() > (options.deadline ?? Infinity)
  const work = async (): Promise<void> => {
    for (let town = towns.shift(); town !== undefined && !isOver(); town = towns.shift()) {
      const played = await runTown(town, options)
      results.push(...played)
      for (const result of played) onRun(result)
      if (played.length < town.length) towns.push(town.slice(played.length))
      const signs = (count: number) => Math.floor(count / PROGRESS)
      if (signs(results.length) > signs(results.length - played.length)) say(results, performance.now() - began)
    }
  }
  await Promise.all(Array.from({ length: Math.min(jobs, towns.length) }, work))
  return results
}

/** A failure with the seed that repeats it. */
function tell({ plan: { seed, condition }, before, done, findings }: ChaosResult): void {
  if (findings.length === 0) return
  console.log(
    `seed ${seed}: the server ${condition.kind}; ${done.map(({ deed, phase }) => `${deed} ${phase}`).join('; ')}`,
  )
  for (const finding of findings.slice(0, SHOWN)) console.log(`  ${sentence(finding)}`)
  console.log(`  again: npm run chaos -- --seeds ${[...before, seed].join(',')}`)
  if (before.length > 0) console.log(`  alone: npm run chaos -- --seeds ${seed}`)
}

function say(results: readonly ChaosResult[], ms: number): void {
  const failed = results.filter(({ findings }) => findings.length > 0).length
  console.log(`${results.length} runs in ${(ms / 1_000).toFixed(0)} s, ${failed} of them failed`)
}

/** What was not tried is said, lest its absence be taken for its success. */
export function milder(results: readonly ChaosResult[]): readonly string[] {
  const kinds = results.flatMap(({ plan, isMild }) => (isMild ? [plan.condition.kind] : []))
  return [...new Set(kinds)].map((kind) => {
    const count = kinds.filter((one) => one === kind).length
    return `NOT TRIED in ${count} of ${results.length} runs: “${kind}” takes root, and mount or chattr on this file system, or prlimit.`
  })
}

function sentence({ kind, what }: Finding): string {
  return `${kind}: ${what}`
}

/** Prints it, and gives the exit code. */
export function reportChaos(results: readonly ChaosResult[], seconds: number): number {
  const done = results.flatMap((result) => result.done)
  console.log(`\n${results.length} runs in which ${done.length} things went wrong, in ${seconds.toFixed(0)} s`)
  for (const deed of [...new Set(done.map((one) => one.deed))].toSorted()) {
    const at = done.filter((one) => one.deed === deed)
    const parts = phases.map((phase) => [phase, at.filter((one) => one.phase === phase).length] as const)
    const told = parts.filter(([, count]) => count > 0).map(([phase, count]) => `${count} ${phase}`)
    console.log(`  ${deed.padEnd(30)} ${String(at.length).padStart(4)}: ${told.join(', ')}`)
  }
  for (const sentence of milder(results)) console.log(sentence)
  console.log(totals(results))
  return results.every(({ findings }) => findings.length === 0) ? 0 : 1
}
