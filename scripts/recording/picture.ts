/** Draws what terminals showed as an SVG whose text appears when it did; without animation it shows the end. */
import type { Shown, Terminal } from './record.ts'

interface Pane {
  readonly title: string
  readonly x: number
  readonly y: number
  readonly columns: number
  readonly rows: number
}

/** A piece of one row of a terminal. */
interface Piece {
  readonly at: number
  readonly row: number
  readonly column: number
  readonly text: string
  readonly kind: 'typed' | 'printed' | 'interrupted'
}

const CHARACTER = { width: 7.25, height: 17 }
const PADDING = 12
const TITLE = 26
const GAP = 14
const HALF = { columns: 52, rows: 14 }

const panes: Readonly<Record<Terminal, Pane>> = {
  first: { title: 'terminal 1', x: 0, y: 0, ...HALF },
  second: { title: 'terminal 2 joins in mid-sentence', x: widthOf(HALF.columns) + GAP, y: 0, ...HALF },
  third: { title: 'terminal 3', x: 0, y: heightOf(HALF.rows) + GAP, columns: 109.2, rows: 15 },
}

const SIZE = {
  width: widthOf(HALF.columns) * 2 + GAP,
  height: heightOf(HALF.rows) + GAP + heightOf(panes.third.rows),
}

export function pictureOf(shown: readonly Shown[]): string {
  const drawn = Object.entries(panes).map(([terminal, pane]) => {
    const own = shown.filter((one) => one.terminal === terminal)
    return drawPane(pane, piecesOf(own, pane.columns))
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${SIZE.width} ${SIZE.height}" width="${SIZE.width}" height="${SIZE.height}" role="img" aria-label="Two terminals follow one answer; the server is killed with kill -9; both say so, and nothing that was shown is lost.">
<style>
  text { font: 12px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; white-space: pre; fill: #d4d8de; }
  rect { fill: #14171c; stroke: #39404a; }
  .title { fill: #8d96a3; }
  .typed { fill: #8ec5ff; }
  .interrupted { fill: #ffb86b; }
  @media (prefers-reduced-motion: no-preference) { .later { opacity: 0; animation: appear 1ms linear forwards; } }
  @keyframes appear { to { opacity: 1; } }
</style>
${drawn.join('\n')}
</svg>
`
}

function drawPane({ title, x, y, columns, rows }: Pane, pieces: readonly Piece[]): string {
  const left = x + PADDING
  const top = y + TITLE + CHARACTER.height
  const texts = pieces
    .filter(({ row }) => row < rows)
    .map(({ at, row, column, text, kind }) => {
      const place = `x="${round(left + column * CHARACTER.width)}" y="${round(top + row * CHARACTER.height)}"`
      const length = `textLength="${round(text.length * CHARACTER.width)}"`
      const delay = `style="animation-delay:${Math.round(at)}ms"`
      return `<text class="later ${kind}" ${place} ${length} lengthAdjust="spacingAndGlyphs" ${delay}>${escape(text)}</text>`
    })
  const frame = `<rect x="${x + 0.5}" y="${y + 0.5}" width="${round(widthOf(columns) - 1)}" height="${heightOf(rows) - 1}" rx="6"/>`
  return [frame, `<text class="title" x="${left}" y="${y + 20}">${escape(title)}</text>`, ...texts].join('\n')
}

/** Wraps words as a terminal of so many columns would, each word at the time of its first letter. */
function piecesOf(shown: readonly Shown[], columns: number): readonly Piece[] {
  const pieces: Piece[] = []
  let row = 0
  let column = 0
  let isInterrupted = false
  for (const { at, text, isTyped } of shown) {
    for (const [word] of text.matchAll(/\n|[^\S\n]+|\S+/gu)) {
      if (word === '\n') {
        row += 1
        column = 0
        isInterrupted = false
        continue
      }
      if (column > 0 && column + word.trimEnd().length > columns) {
        row += 1
        column = 0
      }
      isInterrupted ||= /^(?:parley:|Interrupted:)$/u.test(word)
      const kind = isTyped ? 'typed' : isInterrupted ? 'interrupted' : 'printed'
      if (word.trim() !== '') pieces.push({ at, row, column, text: word, kind })
      column += column === 0 && word.trim() === '' ? 0 : word.length
    }
  }
  return joined(pieces)
}

/** Neighbours of one moment and one kind in one row are one piece. */
function joined(pieces: readonly Piece[]): readonly Piece[] {
  const result: Piece[] = []
  for (const piece of pieces) {
    const last = result.at(-1)
    const isNeighbour = last && last.at === piece.at && last.row === piece.row && last.kind === piece.kind
    if (!isNeighbour) {
      result.push(piece)
      continue
    }
    const space = ' '.repeat(piece.column - last.column - last.text.length)
    result[result.length - 1] = { ...last, text: `${last.text}${space}${piece.text}` }
  }
  return result
}

function widthOf(columns: number): number {
  return Math.round(columns * CHARACTER.width + PADDING * 2)
}

function heightOf(rows: number): number {
  return rows * CHARACTER.height + TITLE + PADDING
}

function round(value: number): number {
  return Math.round(value * 100) / 100
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
