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

export function sentence({ pass, fail, notOffered, notApplicable, binding }: Sum): string {
  return `${pass} pass, ${fail} fail (${binding} of what must be), ${notOffered} not offered, ${notApplicable} not applicable`
}

function shown({ result }: Verdict): string {
  return result === 'fail' ? 'FAIL' : result
}

function whyOf(verdict: Verdict): string {
  return verdict.result === 'fail' ? `\n${' '.repeat(27)}${verdict.why.slice(0, 300)}` : ''
}
