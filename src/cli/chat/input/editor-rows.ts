/** Lays out the input line as rows, and the cursor in them. */
import type { ScreenCursor } from '../../output/terminal/screen.ts'
import { clean, graphemesOf, widthOf } from '../../output/terminal/text.ts'
import type { Look } from '../../output/view/rows.ts'
import type { LineEditor } from './editor.ts'

export interface WrittenRows {
  readonly rows: readonly string[]
  readonly cursor: ScreenCursor
}

const LEAD = '› '
const INDENT = '  '
/** Characters before and behind the cursor that are laid out: a long paste is not laid out with every key. */
const NEAR = 4_000

export interface EditorFrame {
  /** Rows that there are at most; of more, those around the cursor are shown. */
  readonly height: number
  /** Stands there while nothing is written. */
  readonly hint: string
}

export function editorRows(editor: LineEditor, { paint, width }: Look, { height, hint }: EditorFrame): WrittenRows {
  const lead = paint('user', LEAD)
  if (editor.isEmpty) {
    const shown = widthOf(hint) + LEAD.length < width() ? paint('dim', hint) : ''
    return { rows: [lead + shown], cursor: { row: 0, column: LEAD.length } }
  }
  const { rows, cursor } = layOut(editor, width() - LEAD.length)
  const from = Math.max(0, Math.min(cursor.row - Math.floor(height / 2), rows.length - height))
  const shown = rows.slice(from, from + height)
  return {
    rows: shown.map((row, index) => (from + index === 0 ? lead : INDENT) + row),
    cursor: { row: cursor.row - from, column: cursor.column + LEAD.length },
  }
}

function layOut({ text, cursor }: LineEditor, room: number): WrittenRows {
  const from = startNear(text, cursor)
  const layout = new Layout(Math.max(2, room))
  layout.write(text.slice(from, cursor))
  const at = layout.place()
  layout.write(text.slice(cursor, cursor + NEAR))
  return { rows: layout.rows, cursor: at }
}

function startNear(text: string, cursor: number): number {
  if (cursor <= NEAR) return 0
  const line = text.indexOf('\n', cursor - NEAR)
  return line >= 0 && line < cursor ? line + 1 : cursor - NEAR
}

class Layout {
  readonly rows: string[] = ['']
  readonly #room: number
  #used = 0

  constructor(room: number) {
    this.#room = room
  }

  /** Where the next character comes. */
  place(): ScreenCursor {
    if (this.#used >= this.#room) this.#next()
    return { row: this.rows.length - 1, column: this.#used }
  }

  write(text: string): void {
    for (const grapheme of graphemesOf(text)) {
      if (grapheme === '\n') this.#next()
      else this.#put(grapheme === '\t' ? INDENT : clean(grapheme))
    }
  }

  #put(grapheme: string): void {
    const width = widthOf(grapheme)
    if (this.#used + width > this.#room) this.#next()
    this.rows[this.rows.length - 1] += grapheme
    this.#used += width
  }

  #next(): void {
    this.rows.push('')
    this.#used = 0
  }
}
