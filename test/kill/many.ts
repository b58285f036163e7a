/** Many runs, a few at a time, until enough of them count. */
import { planOf } from './plan.ts'
import { type RunOptions, type RunResult, run } from './run.ts'

/** Findings of one run that are printed; where there are more they are of one kind. */
const SHOWN = 3

export interface Series {
  readonly runs: number
  readonly seed: number
  readonly faultShare: number
  readonly jobs: number
  /** No run begins after this time of `performance.now()`. */
  readonly deadline?: number
  /** Told after each run; by default a line is printed now and then. */
  readonly onRun?: (results: readonly RunResult[]) => void
}

/** A run in which no client received an update proves nothing; another one with the next seed takes its place. */
export async function runMany(series: Series, options: RunOptions = {}): Promise<readonly RunResult[]> {
  const results: RunResult[] = []
  const counted = (): number => results.filter(({ counts }) => counts).length
  const isOver = (): boolean => performance.now() > (series.deadline ?? Infinity)
  let next = series.seed
  let running = 0
  const work = async (): Promise<void> => {
    // A series whose runs never count must end as well.
    while (counted() + running < series.runs && results.length < series.runs * 4 && !isOver()) {
      const seed = next
      next += 1
      running += 1
      const result = await run(planOf(seed, series.faultShare), options)
      running -= 1
      results.push(result)
      ;(series.onRun ?? progress(series))(results)
    }
  }
  await Promise.all(Array.from({ length: Math.min(series.jobs, series.runs) }, work))
  return results
}

function progress({ runs }: Series) {
  return (results: readonly RunResult[]): void => {
    const last = results.at(-1)
    for (const { kind, what } of last?.findings.slice(0, SHOWN) ?? [])
      console.log(`  seed ${last?.plan.seed}: ${kind}: ${what}`)
    const more = (last?.findings.length ?? 0) - SHOWN
    if (more > 0) console.log(`  seed ${last?.plan.seed}: and ${more} more`)
    const counted = results.filter(({ counts }) => counts).length
    if (results.length % 20 === 0) console.log(`  ${counted} of ${runs} runs`)
  }
}
