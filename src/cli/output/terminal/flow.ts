/** Turns streamed text into rows: those that are final, and those of the line that is still incomplete. */
import { type LineKind, lineKind, styledSpansOf } from './markdown.ts'
import type { Paint, Style } from './colors.ts'
import { clean } from './text.ts'
import { type ScreenRow, type Wrapping, wrapSpans } from './wrap.ts'

export interface FlowOptions {
  readonly paint: Paint
  /** Columns, as they are now. */
  readonly width: () => number
  /** Every row in this style and no Markdown: thoughts and old words. */
  readonly only?: Style
  /** Stands before the first row; the others are indented as far. */
  readonly lead?: string
}

/** How many rows of an unfinished line stay open to change; a line longer than that is settled from its beginning. */
const OPEN_ROWS = 8

export class Flow {
  readonly #options: FlowOptions
  #lead: string
  #inCode = false
  /** The incomplete line, and its kind when its beginning was settled already. */
  #line = ''
  #kind: LineKind | undefined

  constructor(options: FlowOptions) {
    this.#options = options
    this.#lead = options.lead ?? ''
  }

  /** The rows that these words settle. */
  push(text: string): readonly string[] {
    const [first = '', ...rest] = text.split('\n')
    this.#line += first
    const rows: string[] = []
    for (const next of rest) {
      rows.push(...this.#settleLine())
      this.#line = next
    }
    return [...rows, ...this.#settleBeginning()]
  }

  /** The rows of the incomplete line; none when it is empty. */
  open(): readonly string[] {
    return this.#line === '' ? [] : this.#rows().map(({ text }) => text)
  }

  /** Nothing more comes. */
  end(): readonly string[] {
    return this.#line === '' ? [] : this.#settleLine()
  }

  #settleLine(): readonly string[] {
    const kind = this.#kindOfLine()
    const rows = this.#rows().map(({ text }) => text)
    if (kind.fence) this.#inCode = !this.#inCode
    this.#line = ''
    this.#kind = undefined
    this.#lead = ' '.repeat(this.#lead.length)
    return rows
  }

  #settleBeginning(): readonly string[] {
    if (this.#line.length < this.#options.width() * OPEN_ROWS) return []
    const rows = this.#rows()
    const settled = rows.slice(0, -OPEN_ROWS)
    const open = rows[settled.length]
    if (open === undefined || settled.length === 0) return []
    const kind = this.#kindOfLine()
    this.#kind = { ...kind, first: kind.rest, skipped: 0 }
    this.#line = fit(this.#line).slice(open.at)
    this.#lead = ' '.repeat(this.#lead.length)
    return settled.map(({ text }) => text)
  }

  #rows(): readonly ScreenRow[] {
    const kind = this.#kindOfLine()
    const { paint, width } = this.#options
    const wrapping: Wrapping = {
      width: width(),
      first: this.#lead + kind.first,
      rest: ' '.repeat(this.#lead.length) + kind.rest,
      paint,
    }
    return wrapSpans(styledSpansOf(fit(this.#line), kind), wrapping)
  }

  #kindOfLine(): LineKind {
    if (this.#kind !== undefined) return this.#kind
    const { only } = this.#options
    const kind = lineKind(fit(this.#line), this.#inCode)
    return only === undefined ? kind : { ...kind, style: only, inline: false }
  }
}

/** As it can be shown; tabs have no width of their own. */
function fit(line: string): string {
  return clean(line).replaceAll('\t', '    ')
}
