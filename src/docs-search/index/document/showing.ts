/** Renders a document for a reader: a part of its text, its headings, and the passages that a search found in it. */
import type { TextRange } from '../../../text/query.ts'
import { highlightsOf } from '../query/highlight.ts'
import type { Outline } from './outline.ts'
import { passageSpansOf } from './split-into-passages.ts'
import type { Term } from '../query/plan.ts'
import type { FoundInDocument, Shown, ShownHeading, ShowRequest } from '../worker/protocol.ts'
import { infoOf, type LoadedDocument, MAX_HEADINGS } from './reading.ts'
import { namedHeadings } from './sections.ts'
import { characterBoundary } from '../../../text/shorten.ts'

/** More is slow to lay out on a phone. */
const MAX_PART_CHARS = 60_000

/** The result of a search in one document: the passages as the index has them, and the terms of the query. */
export interface FoundRows {
  readonly rows: readonly { readonly line: number; readonly text: string }[]
  readonly terms: readonly Term[]
}

export function shownOf({ row, outline }: LoadedDocument, request: ShowRequest, found: FoundRows): Shown {
  const { text } = outline
  const starts = partStarts(text)
  const lines = new Lines(text)
  const partAt = (offset: number) => starts.findLastIndex((start) => start <= offset) + 1
  const asked = request.line === undefined ? (request.part ?? 1) : partAt(lines.startOf(request.line))
  const part = Math.min(asked, starts.length)
  const start = starts[part - 1] ?? 0
  return {
    ...infoOf(row),
    text: text.slice(start, starts[part] ?? text.length),
    offset: start,
    line: lines.at(start),
    part,
    parts: starts.length,
    headings: headingsOf(outline, (at) => ({ line: lines.at(at), part: partAt(at) })),
    found: passagesIn(outline, found, partAt),
  }
}

/** Where each part begins: at the start of a line if one is near. */
function partStarts(text: string): readonly number[] {
  const starts = [0]
  for (let start = 0; text.length - start > MAX_PART_CHARS; starts.push(start)) {
    const window = text.slice(start, start + MAX_PART_CHARS)
    const paragraph = window.lastIndexOf('\n\n') + 2
    const line = Math.max(window.lastIndexOf('\n'), window.lastIndexOf('\u2029')) + 1
    const near = [paragraph, line].find((cut) => cut > MAX_PART_CHARS / 2)
    start = near === undefined ? characterBoundary(text, start + MAX_PART_CHARS) : start + near
  }
  return starts
}

type HeadingPlace = Pick<ShownHeading, 'line' | 'part'>

function headingsOf(outline: Outline, placeOf: (offset: number) => HeadingPlace): readonly ShownHeading[] {
  const ends = new Map(outline.headings.map(({ start, end }) => [start, end]))
  return namedHeadings(outline)
    .slice(0, MAX_HEADINGS)
    .map(({ level, title, slug, start }) => {
      const { line, part } = placeOf(start)
      return { level, title, slug, line, part, at: [start, ends.get(start) ?? start] }
    })
}

/** The passages of the text as it is now that the index has too; it may be of a moment before. */
function passagesIn(
  outline: Outline,
  { rows, terms }: FoundRows,
  partAt: (offset: number) => number,
): readonly FoundInDocument[] {
  const known = new Set(rows.map(({ line, text }) => `${line}\n${text}`))
  if (known.size === 0) return []
  return passageSpansOf(outline).flatMap(({ line, headingPath, span }) => {
    const text = outline.text.slice(...span)
    if (!known.has(`${line}\n${text}`)) return []
    const marks = highlightsOf(text, terms).map(([from, to]): TextRange => [span[0] + from, span[0] + to])
    return [{ line, heading: headingPath.at(-1) ?? '', part: partAt(span[0]), at: span, marks }]
  })
}

/** Lines by offset and offsets by line. */
class Lines {
  readonly #starts: readonly number[]

  constructor(text: string) {
    this.#starts = [0, ...[...text.matchAll(/\n/g)].map(({ index }) => index + 1)]
  }

  startOf(line: number): number {
    return this.#starts[Math.min(line, this.#starts.length) - 1] ?? 0
  }

  at(offset: number): number {
    let [low, high] = [0, this.#starts.length]
    while (high - low > 1) {
      const middle = (low + high) >> 1
      if ((this.#starts[middle] ?? 0) <= offset) low = middle
      else high = middle
    }
    return low + 1
  }
}
