/** Breaks styled text into rows: between words, between Han characters, and inside a word only when it is wider than a row. */
import type { Paint, Style } from './colors.ts'
import { graphemesOf, widthOf } from './text.ts'

export interface TextSpan {
  readonly style: Style
  readonly text: string
  /** Where it begins in the source line, so that a row knows where it does. */
  readonly at: number
}

export interface ScreenRow {
  readonly text: string
  /** Where the row begins in the source line. */
  readonly at: number
}

interface Cell {
  readonly text: string
  readonly width: number
  readonly style: Style
  readonly at: number
}

export interface Wrapping {
  readonly width: number
  /** Stands before the first row, and before every other. */
  readonly first: string
  readonly rest: string
  readonly paint: Paint
}

/** At least one row, however empty. */
export function wrapSpans(spans: readonly TextSpan[], { width, paint, ...leads }: Wrapping): readonly ScreenRow[] {
  // An indent of more than half of the width is dropped. The first row does not decide this, and does not change the
  // width of the other rows, which continue unchanged after it.
  const isDeep = widthOf(leads.rest) > width / 2
  const [first, rest] = isDeep ? [leads.first.trimStart(), ''] : [leads.first, leads.rest]
  const room = (index: number): number => Math.max(2, width - widthOf(index === 0 ? first : rest))
  return breakCells(spans.flatMap(cellsOf), room).map((cells, index) => ({
    text: (index === 0 ? first : rest) + paintCells(cells, paint),
    at: cells[0]?.at ?? 0,
  }))
}

function cellsOf({ style, text, at }: TextSpan): readonly Cell[] {
  let offset = at
  return graphemesOf(text).map((grapheme) => {
    const cell = { text: grapheme, width: widthOf(grapheme), style, at: offset }
    offset += grapheme.length
    return cell
  })
}

/** `room` is how wide the row of an index may be. */
function breakCells(cells: readonly Cell[], room: (index: number) => number): readonly (readonly Cell[])[] {
  const rows: (readonly Cell[])[] = []
  let from = 0
  while (from < cells.length) {
    const end = endOfRow(cells, from, room(rows.length))
    // The spaces at which a row is broken are neither on it nor on the next.
    let last = end
    while (end < cells.length && last > from + 1 && cells[last - 1]?.text === ' ') last -= 1
    rows.push(cells.slice(from, last))
    from = end
    while (from < cells.length && cells[from]?.text === ' ') from += 1
  }
  return rows.length === 0 ? [[]] : rows
}

function endOfRow(cells: readonly Cell[], from: number, room: number): number {
  let used = 0
  let canBreak = from
  for (let index = from; index < cells.length; index += 1) {
    const cell = cells[index]
    if (cell === undefined) break
    if (index > from && breaksBefore(cells, index)) canBreak = index
    used += cell.width
    if (used > room && index > from) return canBreak > from ? canBreak : index
  }
  return cells.length
}

const NEVER_FIRST = /^[,.;:!?)\]}…’”、。，．；：？！）》」』】〕％]/u

function breaksBefore(cells: readonly Cell[], index: number): boolean {
  const [before, here] = [cells[index - 1], cells[index]]
  if (before === undefined || here === undefined) return false
  if (here.text === ' ' || before.text === ' ') return true
  return (before.width === 2 || here.width === 2) && !NEVER_FIRST.test(here.text)
}

function paintCells(cells: readonly Cell[], paint: Paint): string {
  let painted = ''
  let run = ''
  let style: Style = 'plain'
  for (const cell of cells) {
    if (cell.style !== style) {
      painted += paint(style, run)
      run = ''
      style = cell.style
    }
    run += cell.text
  }
  return painted + paint(style, run)
}
