/** The results as a table that people read, in a terminal and on a page. */
import type { Played } from './play.ts'
import { type LawResult } from './run.ts'
import { agentRows, isBinding } from './rows.ts'
import type { Verdict } from './verdict.ts'

const level = (row: string): string => agentRows[row] ?? '–'

export function textTable(played: readonly Played[], laws: readonly LawResult[]): string {
  const rows = played.map(
    ({ one, verdict }) =>
      `${one.row.padEnd(8)} ${level(one.row).padEnd(5)} ${shown(verdict).padEnd(12)} ${one.name}${whyOf(verdict)}`,
  )
  const always = laws.map(
    ({ row, name, broken }) =>
      `${row.padEnd(8)} ${level(row).padEnd(5)} ${(broken.length === 0 ? 'pass' : 'FAIL').padEnd(12)} always: ${name}${broken.length === 0 ? '' : `\n${' '.repeat(27)}${broken.length} ×: ${broken[0]}`}`,
  )
  return [...rows, '', 'in every conversation:', ...always].join('\n')
}

export function pageTable(played: readonly Played[], laws: readonly LawResult[]): string {
  // What could not be tried is left out; the sum says how much that is.
  const tried = played.filter(({ verdict }) => verdict.result !== 'n.a.')
  const rows = tried.map(({ one, verdict }) => row(one.row, one.name, verdict))
  const always = laws.map(({ row: id, name, broken }) =>
    row(
      id,
      `always: ${name}`,
      broken[0] === undefined ? { result: 'pass' } : { result: 'fail', why: `${broken.length} ×: ${broken[0]}` },
    ),
  )
  return ['| row | level | case | result |', '|---|---|---|---|', ...rows, ...always].join('\n')
}

function row(id: string, name: string, verdict: Verdict): string {
  const why =
    verdict.result === 'fail' ? `: ${verdict.why.replaceAll('|', '\\|').replaceAll('\n', ' ').slice(0, 160)}` : ''
  return `| ${id} | ${level(id)} | ${name.replaceAll('|', '\\|')} | ${verdict.result === 'fail' ? `**fail**${why}` : verdict.result} |`
}

export interface Sum {
  readonly pass: number
  readonly fail: number
  readonly notOffered: number
  readonly notApplicable: number
  /** Failures of what must be. */
  readonly binding: number
}

export function sumOf(played: readonly Played[], laws: readonly LawResult[]): Sum {
  const count = (result: Verdict['result']): number => played.filter(({ verdict }) => verdict.result === result).length
  const broken = laws.filter((law) => law.broken.length > 0)
  const failed = played.filter(({ verdict }) => verdict.result === 'fail').map(({ one }) => one.row)
  return {
    pass: count('pass') + laws.length - broken.length,
    fail: failed.length + broken.length,
    notOffered: count('not offered'),
    notApplicable: count('n.a.'),
    binding: [...failed, ...broken.map((law) => law.row)].filter((row) => isBinding(level(row))).length,
  }
}

/** What was played over one transport. */
export interface Judged {
  readonly name: string
  readonly played: readonly Played[]
  readonly sum: Sum
}

/** The transports beside each other: how many of each result, and which cases have not the same result over all of them. */
export function sideBySide(judged: readonly Judged[]): string {
  const sums = judged.map(({ name, sum }) => [name, sum.pass, sum.fail, sum.binding, sum.notOffered, sum.notApplicable])
  const counts = aligned([['', 'pass', 'fail', 'of what must be', 'not offered', 'not applicable'], ...sums])
  const results = judged.map(({ played }) => new Map(played.map(({ one, verdict }) => [one, shown(verdict)])))
  const differing = (judged[0]?.played ?? [])
    .map(({ one }) => [`${one.row}  ${one.name}`].concat(results.map((of) => of.get(one) ?? '')))
    .filter(([, ...each]) => new Set(each).size > 1)
  if (differing.length === 0) return counts
  return `${aligned([['not the same everywhere', ...judged.map(({ name }) => name)], ...differing])}\n\n${counts}`
}

function aligned(rows: readonly (readonly (string | number)[])[]): string {
  const widthOf = (column: number): number => Math.max(...rows.map((cells) => String(cells[column]).length))
  return rows
    .map((cells) =>
      cells
        .map((cell, n) => String(cell).padEnd(widthOf(n)))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

function shown({ result }: Verdict): string {
  return result === 'fail' ? 'FAIL' : result
}

function whyOf(verdict: Verdict): string {
  return verdict.result === 'fail' ? `\n${' '.repeat(27)}${verdict.why.slice(0, 300)}` : ''
}
