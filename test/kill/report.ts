/** What a series of runs comes to, as a page to read: a histogram of the cuts, and the totals. */
import type { FindingKind } from './evidence.ts'
import { countsOf } from '../series/series.ts'
import { TROUBLES } from './far-client.ts'
import { type Phase, inMidTurn, phases } from './phase.ts'
import type { RunResult } from './run.ts'

const LEAST_IN_MID_TURN = 0.6
/** A share of fewer cuts may be low by chance. */
const ENOUGH_CUTS = 200

/** Prints it, and gives the exit code. */
export function report(results: readonly RunResult[], seconds: number): number {
  const counted = results.filter(({ counts }) => counts)
  const cuts = counted.flatMap((result) => result.cuts)
  const share = cuts.filter(({ phase }) => inMidTurn.has(phase)).length / Math.max(1, cuts.length)
  console.log(`\n${counted.length} runs with ${cuts.length} cuts in ${seconds.toFixed(0)} s`)
  console.log(`(${results.length - counted.length} more did not count: no client had received an update)\n`)
  histogram(
    'cut …',
    phases,
    cuts.map(({ phase }) => phase),
  )
  const ways = cuts.map(({ by }) => by)
  histogram('by …', [...new Set(ways)].toSorted(), ways)
  const troubles = results.flatMap((result) => result.troubles)
  if (troubles.length > 0) histogram('the network was …', TROUBLES, troubles)
  console.log(`${(share * 100).toFixed(0)} % of the cuts fell between a turn's first update and its end`)
  console.log(
    `${sum(counted.map(({ suspended }) => suspended))} turns waited for an answer through a restart and went on\n`,
  )
  const failed = results.filter(({ findings }) => findings.length > 0)
  console.log(totals(results))
  return failed.length === 0 && (cuts.length < ENOUGH_CUTS || share >= LEAST_IN_MID_TURN) ? 0 : 1
}

/** What went wrong in runs of chaos, how often, and where in a turn. */
export function reportDeeds(done: readonly { readonly deed: string; readonly phase: Phase }[]): void {
  for (const [deed, count] of countsOf(done.map((one) => one.deed))) {
    const at = countsOf(done.filter((one) => one.deed === deed).map(({ phase }) => phase))
    const when = at.map(([phase, times]) => `${times} ${phase}`).join(', ')
    console.log(`  ${deed.padEnd(56)} ${String(count).padStart(4)}: ${when}`)
  }
}

export function totals(results: readonly Pick<RunResult, 'findings'>[]): string {
  const kinds = results.flatMap(({ findings }) => findings.map(({ kind }) => kind))
  const count = (kind: FindingKind): number => kinds.filter((one) => one === kind).length
  return `${count('lost')} lost, ${count('doubled')} doubled, ${count('without an end')} without an end${count('early') === 0 ? '' : `, ${count('early')} told before the disk had them`}${count('wrong') === 0 ? '' : `, ${count('wrong')} otherwise wrong`}`
}

function histogram(title: string, rows: readonly string[], values: readonly string[]): void {
  console.log(title)
  for (const row of rows) {
    const count = values.filter((value) => value === row).length
    const bar = '█'.repeat(Math.round((count / Math.max(1, values.length)) * 50))
    console.log(`  ${row.padEnd(30)} ${String(count).padStart(4)} ${bar}`)
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
