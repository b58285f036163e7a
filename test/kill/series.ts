/** Runs that need a server and several clients each: some at a time, their findings as they come, and one line at the end. */
import { totals } from './report.ts'
import { type ThreeOptions, type ThreeResult, runThree } from './three.ts'

/** Findings of one run that are printed; where there are more they are of one kind. */
const SHOWN = 3

export interface ThreeSeries {
  /** How many count: a run whose turn had ended before the power went is played again with the next seed. */
  readonly runs: number
  readonly seed: number
  readonly jobs: number
}

export async function runThrees(
  { runs, seed, jobs }: ThreeSeries,
  options: ThreeOptions = {},
): Promise<readonly ThreeResult[]> {
  const results: ThreeResult[] = []
  let next = seed
  const counted = (): number => results.filter(({ inMidTurn }) => inMidTurn).length
  const work = async (): Promise<void> => {
    while (counted() < runs && next < seed + 4 * runs) {
      const mine = next
      next += 1
      results.push(await runThree(mine, options))
    }
  }
  await Promise.all(Array.from({ length: Math.min(jobs, runs) }, work))
  return results
}

/** Prints it, and gives the exit code. */
export function reportThrees(results: readonly ThreeResult[], seconds: number): number {
  const failed = results.filter(({ findings }) => findings.length > 0)
  for (const { seed, findings } of failed) {
    for (const { kind, what } of findings.slice(0, SHOWN)) console.log(`  seed ${seed}: ${kind}: ${what}`)
    console.log(`again: npm run kill -- --three --runs 1 --seed ${seed}`)
  }
  const counted = results.filter(({ inMidTurn }) => inMidTurn).length
  console.log(
    `\n${counted} times the server was killed in mid-turn with two relays and a follower attached, in ${seconds.toFixed(0)} s:`,
  )
  console.log(totals(results))
  return failed.length === 0 ? 0 : 1
}
