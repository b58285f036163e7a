/** A part of a text that a model can take in, and how to read on. */
import { amount } from '../result.ts'

/** Characters of a page, however few lines they make. */
const LONGEST_PAGE = 50_000

export interface Wanted {
  /** Counts from 1. */
  readonly line: number
  readonly limit: number
}

export function pageOf(text: string, { line, limit }: Wanted): string {
  const lines = linesOf(text)
  if (lines.length === 0) return '[The file is empty.]'
  if (line > lines.length) return `[The file has ${amount(lines.length)} lines; there is no line ${amount(line)}.]`
  const page = fitting(lines.slice(line - 1, line - 1 + limit))
  const last = line + page.length - 1
  if (line === 1 && last === lines.length) return page.join('\n')
  const more = last < lines.length ? `; read on with line=${last + 1}` : ''
  return `${page.join('\n')}\n[Lines ${amount(line)}–${amount(last)} of ${amount(lines.length)}${more}]`
}

/** An end of line at the end of a text begins no other line. */
export function linesOf(text: string): readonly string[] {
  const lines = text.split(/\r\n|\n/u)
  if (lines.at(-1) === '') lines.pop()
  return lines
}

/** At least one line, cut where it alone is too long. */
function fitting(lines: readonly string[]): readonly string[] {
  let room = LONGEST_PAGE
  const end = lines.findIndex((line) => (room -= line.length + 1) < 0)
  if (end > 0) return lines.slice(0, end)
  if (end < 0) return lines
  const [first = ''] = lines
  return [`${first.slice(0, LONGEST_PAGE)} [cut: this line has ${amount(first.length)} characters]`]
}
