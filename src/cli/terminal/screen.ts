/** Where rows are shown: for good, or live at the bottom until they are replaced. */
import type { WriteStream } from 'node:tty'
import { widthOf } from './text.ts'

export interface Screen {
  /** Rows can be replaced, so things may move. */
  readonly moves: boolean
  /** Columns that a row may fill. */
  readonly width: () => number
  /** Prints `rows` above the live ones, for good, and replaces the live ones. */
  draw(rows: readonly string[], live: readonly string[]): void
}

const NARROWEST = 20

/** A terminal: the live rows are erased and written again, in one write. */
export function terminalScreen(output: WriteStream): Screen {
  let shown: readonly string[] = []
  const columns = () => output.columns || 80
  return {
    moves: true,
    // The last column stays free: a row that fills it leaves the cursor between two rows.
    width: () => Math.max(NARROWEST, columns() - 1),
    draw(rows, live) {
      const kept = live.slice(-Math.max(1, (output.rows || 24) - 2))
      if (rows.length === 0 && sameRows(kept, shown)) return
      const printed = rows.map((row) => `${row}\n`).join('')
      output.write(erasing(shown, columns()) + printed + kept.join('\n'))
      shown = kept
    },
  }
}

/** Anything else, such as a file or a pipe: what is final, line by line. */
export function plainScreen(write: (text: string) => void): Screen {
  return {
    moves: false,
    width: () => Number.MAX_SAFE_INTEGER,
    draw(rows) {
      if (rows.length > 0) write(rows.map((row) => `${row}\n`).join(''))
    },
  }
}

/** A terminal that has become narrower has broken the rows itself. */
function erasing(rows: readonly string[], columns: number): string {
  if (rows.length === 0) return ''
  const height = heightOf(rows, columns)
  return `\r${height > 1 ? `\u001b[${height - 1}A` : ''}\u001b[J`
}

export function heightOf(rows: readonly string[], columns: number): number {
  return rows.reduce((sum, row) => sum + Math.max(1, Math.ceil(widthOf(row) / columns)), 0)
}

export function sameRows(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((row, index) => row === b[index])
}
