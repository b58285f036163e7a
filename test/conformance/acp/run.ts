/** Plays many cases side by side, and sums up what came of them. */
import type { Case } from './case.ts'
import { laws } from './laws.ts'
import { type Played, play } from './play.ts'
import { Pool, byKind } from './pool.ts'
import type { Transport } from './transport.ts'

export interface Many {
  readonly transport: Transport
  readonly cases: readonly Case[]
  /** How many at once. */
  readonly jobs: number
  readonly patience: number
  /** Whether each case gets the fault that it must notice. */
  readonly mutants?: boolean
}

/** In the order of the cases. */
export async function playAll({ transport, cases, jobs, patience, mutants = false }: Many): Promise<readonly Played[]> {
  const results = new Map<Case, Played>()
  const pool = new Pool()
  const waiting = byKind(cases).values()
  const worker = async (): Promise<void> => {
    for (const one of waiting)
      results.set(one, await play(one, { transport, pool, patience, mutant: mutants ? one.mutant : undefined }))
  }
  await Promise.all(Array.from({ length: jobs }, worker))
  await pool.close()
  return cases.flatMap((one) => results.get(one) ?? [])
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
