/** `npm run bench -- --compare A.json B.json`: two runs side by side. */
import { readFileSync } from 'node:fs'
import type { Row } from './row.ts'

/** Prints each row that both runs have, with how many times the first number of A the one of B is. */
export function compare([one, other, ...more]: readonly string[]): void {
  if (one === undefined || other === undefined || more.length > 0)
    return console.error(
      'npm run bench -- --compare A.json B.json: the results of two runs, as bench/results.json has them',
    )
  const before = new Map(rowsIn(one).map((row) => [row.what, row]))
  for (const { what, measured, goal } of rowsIn(other)) {
    const known = before.get(what)
    if (known === undefined) continue
    const columns = [
      what.padEnd(60),
      known.measured.padEnd(28),
      measured.padEnd(28),
      ratio(known.measured, measured),
      goal,
    ]
    console.log(columns.join(' | '))
  }
}

function rowsIn(path: string): readonly Row[] {
  return JSON.parse(readFileSync(path, 'utf8')) as readonly Row[]
}

function ratio(before: string, now: string): string {
  const [from, to] = [numberIn(before), numberIn(now)]
  return (from === 0 ? '–' : `${(to / from).toFixed(2)} ×`).padStart(8)
}

function numberIn(measured: string): number {
  return Number(/-?[\d,]+(?:\.\d+)?/u.exec(measured)?.[0].replaceAll(',', '') ?? Number.NaN)
}
