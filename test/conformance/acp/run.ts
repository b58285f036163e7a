/** Plays many cases side by side, and sums up what came of them. */
import type { Case } from './case.ts'
import { laws } from './laws.ts'
import { type Played, play } from './play.ts'
import { Pool, kindOf } from './pool.ts'
import type { Target } from './target.ts'

export interface Many {
  readonly target: Target
  readonly cases: readonly Case[]
  /** How many at once. */
  readonly jobs: number
  readonly patience: number
  /** Whether each case gets the fault that it must notice. */
  readonly mutants?: boolean
  readonly done?: (played: Played) => void
}

/** In the order of the cases. */
export async function playAll({
  target,
  cases,
  jobs,
  patience,
  mutants = false,
  done,
}: Many): Promise<readonly Played[]> {
  const results: Played[] = []
  const pool = new Pool()
  let next = 0
  // Cases of one kind follow each other, since one agent can serve them all.
  const order = [...cases.keys()].toSorted((a, b) => compare(kindOf(cases[a]), kindOf(cases[b])))
  const worker = async (): Promise<void> => {
    for (let at = order[next]; at !== undefined; at = order[next]) {
      next += 1
      const one = cases[at]
      if (one === undefined) return
      const played = await play(one, { target, pool, patience, mutant: mutants ? one.mutant : undefined })
      results[at] = played
      done?.(played)
    }
  }
  await Promise.all(Array.from({ length: jobs }, worker))
  await pool.close()
  return results
}

function compare(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}

/** A fault counts as noticed when it was put in and the case failed of it. */
export function isCaught({ verdict, fired }: Played): boolean {
  return fired && verdict.result === 'fail'
}

export interface LawResult {
  readonly row: string
  readonly name: string
  /** The complaints, each with the case in whose transcript it was. */
  readonly broken: readonly string[]
}

/** What held in every transcript, and what did not. */
export function lawResults(played: readonly Played[]): readonly LawResult[] {
  return laws.map(({ row, name }) => ({
    row,
    name,
    broken: played.flatMap(({ one, complaints }) => {
      const [complaint] = complaints.get(row) ?? []
      return complaint === undefined ? [] : [`${complaint} (in “${one.name}”)`]
    }),
  }))
}
