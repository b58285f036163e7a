/**
 * The one loop of all that is played again and again with fresh seeds: the simulation, kill -9 of every kind, chaos. What is
 * played is a scenario; how many of them, from which seed and how many at a time is the same everywhere.
 */

/** One kind of run. A unit is the seed of one run, or what several runs share. */
export interface Scenario<Unit, Result> {
  play(unit: Unit): Promise<readonly Result[]>
  /** What must never be; empty when all is well. */
  findings(result: Result): readonly string[]
  /** Begins what is printed of a run that failed: its seed, and what happened in it. */
  title(result: Result): string
  /** What to type to see it again. */
  again(result: Result): string
  /** A run that shows nothing, because it never came to what it is about, is replaced by another one. All count if absent. */
  counts?(result: Result): boolean
}

export interface Series<Unit> {
  readonly units: Iterator<Unit>
  /** How many results are enough. */
  readonly runs: number
  /** How many at a time. */
  readonly jobs: number
  /** No unit begins after this time of `performance.now()`. */
  readonly deadline?: number
  readonly stopsAtFailure?: boolean
  /** Hears the lines that tell how it goes; nobody does if absent. */
  readonly say?: (line: string) => void
}

/** Findings of one run that are printed; where there are more they are of one kind. */
const SHOWN = 3
/** Results between two signs of life. */
const PROGRESS = 20
/** A series whose runs never count must end as well. */
const MOST_TRIES = 4

export async function playSeries<Unit, Result>(
  { units, runs, jobs, deadline = Infinity, stopsAtFailure = false, say = () => undefined }: Series<Unit>,
  scenario: Scenario<Unit, Result>,
): Promise<readonly Result[]> {
  const results: Result[] = []
  const began = performance.now()
  let counted = 0
  let running = 0
  let failed = 0

  function take(result: Result): void {
    results.push(result)
    counted += Number(scenario.counts?.(result) ?? true)
    const findings = scenario.findings(result)
    if (findings.length > 0) {
      failed += 1
      say(scenario.title(result))
      for (const finding of findings.slice(0, SHOWN)) say(`  ${finding}`)
      if (findings.length > SHOWN) say(`  and ${findings.length - SHOWN} more`)
      say(`  again: ${scenario.again(result)}`)
    }
    if (results.length % PROGRESS !== 0) return
    say(`${results.length} runs in ${((performance.now() - began) / 1_000).toFixed(0)} s, ${failed} of them failed`)
  }

  function isOver(): boolean {
    if (performance.now() > deadline || (stopsAtFailure && failed > 0)) return true
    return counted + running >= runs || results.length >= runs * MOST_TRIES
  }

  async function work(): Promise<void> {
    while (!isOver()) {
      const { value, done } = units.next()
      if (done === true) return
      running += 1
      const played = await scenario.play(value)
      running -= 1
      for (const result of played) take(result)
    }
  }

  await Promise.all(Array.from({ length: Math.min(jobs, runs) }, work))
  return results
}

export function* seedsFrom(first: number): Generator<number, undefined> {
  for (let seed = first; ; seed += 1) yield seed
}

/** The options that every series has, in addition to those of its own. */
export const SERIES_OPTIONS = {
  runs: { type: 'string' },
  seconds: { type: 'string' },
  seed: { type: 'string' },
  jobs: { type: 'string' },
  help: { type: 'boolean', default: false },
} as const

/** What they say, printed with the seed that repeats it. */
export function seriesOf(
  values: { readonly [Name in 'runs' | 'seconds' | 'seed' | 'jobs']?: string | undefined },
  usual: { readonly runs: number; readonly jobs: number },
): Series<number> & { readonly seed: number } {
  const { runs, seconds, seed: given, jobs } = values
  const seed = Number(given ?? Math.floor(Math.random() * 1_000_000))
  console.log(`seeds from ${seed} on`)
  return {
    seed,
    units: seedsFrom(seed),
    runs: Number(runs ?? (seconds === undefined ? usual.runs : Infinity)),
    jobs: Number(jobs ?? usual.jobs),
    deadline: seconds === undefined ? Infinity : performance.now() + Number(seconds) * 1_000,
    say: (line) => console.log(line),
  }
}

/** How often each of them was there, the usual ones first. */
export function countsOf(all: readonly string[]): readonly (readonly [what: string, count: number])[] {
  const counts = new Map<string, number>()
  for (const what of all) counts.set(what, (counts.get(what) ?? 0) + 1)
  return [...counts].toSorted(([, one], [, other]) => other - one)
}
