/** A part of a text that a model can take in, and how to read on. */
import { characterBoundary, formatCount } from '../../../text/shorten.ts'

/** Characters of a page, however few lines they make. */
const MAX_PAGE_CHARS = 50_000

export interface FilePageRequest {
  /** Counts from 1. */
  readonly line: number
  readonly limit: number
  /** The first character wanted of that line, counted from 1. */
  readonly column?: number
}

export function filePageOf(text: string, { line, limit, column = 1 }: FilePageRequest): string {
  const lines = textLines(text)
  if (lines.length === 0) return '[The file is empty.]'
  const first = lines[line - 1]
  if (first === undefined)
    return `[The file has ${formatCount(lines.length)} lines; there is no line ${formatCount(line)}.]`
  if (column > Math.max(1, first.length))
    return `[Line ${formatCount(line)} has ${formatCount(first.length)} characters; there is no column ${formatCount(column)}.]`
  const start = characterBoundary(first, column - 1)
  if (first.length - start > MAX_PAGE_CHARS) return pieceOf(first, { line, start })
  const page = fitting([first.slice(start), ...lines.slice(line, line - 1 + limit)])
  const last = line + page.length - 1
  if (line === 1 && start === 0 && last === lines.length) return page.join('\n')
  const more = last < lines.length ? `; read on with line=${last + 1}` : ''
  return `${page.join('\n')}\n[Lines ${formatCount(line)}–${formatCount(last)} of ${formatCount(lines.length)}${more}]`
}

/** Of a line that alone is too long. */
function pieceOf(text: string, { line, start }: { readonly line: number; readonly start: number }): string {
  const end = characterBoundary(text, start + MAX_PAGE_CHARS)
  const where = `Characters ${formatCount(start + 1)}–${formatCount(end)} of line ${formatCount(line)}, which has ${formatCount(text.length)}`
  return `${text.slice(start, end)}\n[${where}; read on with line=${line}, column=${end + 1}]`
}

/** An end of line at the end of a text begins no other line. */
export function textLines(text: string): readonly string[] {
  const lines = text.split(/\r\n|\n/u)
  if (lines.at(-1) === '') lines.pop()
  return lines
}

/** The first of them fits. */
function fitting(lines: readonly string[]): readonly string[] {
  let room = MAX_PAGE_CHARS + 1
  const end = lines.findIndex((line) => (room -= line.length + 1) < 0)
  return end < 0 ? lines : lines.slice(0, end)
}
