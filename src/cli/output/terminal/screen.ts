/** Shows rows: permanently, or live at the bottom until they are replaced. */
import type { WriteStream } from 'node:tty'
import { widthOf } from './text.ts'

export interface Screen {
  /** Rows can be replaced, so things may move. */
  readonly moves: boolean
  /** Columns that a row may fill. */
  readonly width: () => number
  /** Prints `rows` permanently above the live ones, and replaces the live ones. */
  draw(rows: readonly string[], live: readonly string[]): void
}

/** A place among the live rows. */
export interface ScreenCursor {
  readonly row: number
  readonly column: number
}

const NARROWEST = 20

/** Asks a terminal that can to show what comes between the two at once; others ignore it. */
const BEGIN = '\u001b[?2026h\u001b[?25l'
const END = '\u001b[?25h\u001b[?2026l'
const ERASE_LINE_END = '\u001b[K'
const ERASE_BELOW = '\u001b[J'

/**
 * A terminal. Live rows are overwritten one by one and in one write, so that nothing flickers. Above them is the usual
 * scrollback, which is never changed again.
 */
export class TerminalScreen implements Screen {
  readonly moves = true
  readonly #output: WriteStream
  #live: readonly string[] = []
  #cursor: ScreenCursor = { row: 0, column: 0 }
  #columns: number

  constructor(output: WriteStream) {
    this.#output = output
    this.#columns = this.#columnsNow()
  }

  // The last column stays free: a row that fills it leaves the cursor between two rows.
  readonly width = (): number => Math.max(NARROWEST, this.#columnsNow() - 1)

  /** Rows that may be live without pushing the first ones off the screen. */
  get height(): number {
    return Math.max(2, (this.#output.rows || 24) - 1)
  }

  /** Without a cursor it stands behind the last row. */
  draw(rows: readonly string[], live: readonly string[], cursor?: ScreenCursor): void {
    const kept = live.slice(-this.height)
    const at = cursor === undefined ? endPosition(kept) : cutCursor(cursor, live.length - kept.length)
    const isResized = this.#columns !== this.#columnsNow()
    if (rows.length === 0 && !isResized && sameRows(kept, this.#live) && sameCursor(at, this.#cursor)) return
    const over = rows.length === 0 && !isResized ? this.#live : []
    const text = this.#toTop() + (isResized ? ERASE_BELOW : '') + printed(rows) + changedRows(kept, over)
    this.#output.write(BEGIN + text + moved(kept.length - 1, at) + END)
    this.#live = kept
    this.#cursor = at
    this.#columns = this.#columnsNow()
  }

  /** All that is to be seen goes; the scrollback stays. */
  clear(): void {
    this.#output.write('\u001b[2J\u001b[H')
    this.forget()
  }

  /** Other output was written to the terminal, so the live rows stay where they are. */
  forget(): void {
    this.#live = []
    this.#cursor = { row: 0, column: 0 }
  }

  /** Moves from the cursor to the first live row. A terminal that became narrower has wrapped the rows. */
  #toTop(): string {
    // Another program may have written here without ending its line.
    if (this.#live.length === 0) return ''
    const columns = this.#columnsNow()
    const above = heightOf(this.#live.slice(0, this.#cursor.row), columns)
    const up = above + Math.floor(this.#cursor.column / columns)
    return `\r${up > 0 ? `\u001b[${up}A` : ''}`
  }

  #columnsNow(): number {
    return this.#output.columns || 80
  }
}

/** Any other output, such as a file or a pipe: it gets only final rows, line by line. */
export function plainScreen(write: (text: string) => void): Screen {
  return {
    moves: false,
    width: () => Number.MAX_SAFE_INTEGER,
    draw(rows) {
      if (rows.length > 0) write(rows.map((row) => `${row}\n`).join(''))
    },
  }
}

function printed(rows: readonly string[]): string {
  return rows.map((row) => `${row}${ERASE_LINE_END}\r\n`).join('')
}

/** Skips rows that have not changed. */
function changedRows(rows: readonly string[], before: readonly string[]): string {
  const texts = rows.map((row, index) => (before[index] === row ? '' : `${row}${ERASE_LINE_END}`))
  const last = rows.length - 1
  const isLastSame = last >= 0 && before[last] === rows[last]
  if (isLastSame && before.length === rows.length) return texts.join('\r\n')
  // Erasing the rest of the last row also erases the rows below it, so the last row is always written.
  return [...texts.slice(0, -1), `${rows[last] ?? ''}${ERASE_BELOW}`].join('\r\n')
}

/** From the last row to where the cursor is to stand. */
function moved(last: number, { row, column }: ScreenCursor): string {
  if (last < 0) return ''
  const up = Math.max(0, last - row)
  return `${up > 0 ? `\u001b[${up}A` : ''}\r${column > 0 ? `\u001b[${column}C` : ''}`
}

function endPosition(rows: readonly string[]): ScreenCursor {
  return { row: Math.max(0, rows.length - 1), column: widthOf(rows.at(-1) ?? '') }
}

function cutCursor({ row, column }: ScreenCursor, cut: number): ScreenCursor {
  return { row: Math.max(0, row - cut), column }
}

function heightOf(rows: readonly string[], columns: number): number {
  return rows.reduce((sum, row) => sum + Math.max(1, Math.ceil(widthOf(row) / columns)), 0)
}

function sameRows(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((row, index) => row === b[index])
}

function sameCursor(a: ScreenCursor, b: ScreenCursor): boolean {
  return a.row === b.row && a.column === b.column
}
