/** Cuts a document into passages: a section each, and long sections where a paragraph or a sentence ends. */
import type { Heading, Outline } from './outline.ts'

export interface Passage {
  readonly headingPath: readonly string[]
  /** Of its first character; counts from 1. */
  readonly line: number
  readonly text: string
  /** The part of `text` that is headings, and the rest. */
  readonly heading: string
  readonly body: string
}

export interface Section {
  readonly headingPath: readonly string[]
  /** The headings that stand in the section itself. */
  readonly headings: readonly Heading[]
  readonly start: number
  readonly end: number
}

const MAX_PASSAGE_CHARS = 800
const MIN_PASSAGE_CHARS = 300

export function titleOf(outline: Outline, fileName: string): string {
  // A heading without text of its own only says where one is, such as a page.
  const own = outline.title ?? outline.headings.find(({ title, start, end }) => title !== '' && end > start)?.title
  return own ?? fileName.replace(/(?<=.)\.[^.]*$/, '')
}

export function passagesOf(outline: Outline): readonly Passage[] {
  return passageSpansOf(outline).map(({ headingPath, headings, line, span }) => {
    const { text, heading, body } = passageText(outline.text, headings, span)
    return { headingPath, line, text, heading, body }
  })
}

/** Where a passage stands. */
export interface PassageSpan extends Pick<Section, 'headingPath' | 'headings'> {
  readonly line: number
  readonly span: Span
}

export function passageSpansOf(outline: Outline): readonly PassageSpan[] {
  const lines = new LineCounter(outline.text)
  return sectionsOf(outline).flatMap(({ headingPath, headings, ...section }) =>
    pieces(outline.text, section).map((span) => ({ headingPath, headings, line: lines.at(span[0]), span })),
  )
}

/** The text before the first heading, then one section for each heading. A section without text joins its first subsection. */
export function sectionsOf({ text, headings }: Outline): readonly Section[] {
  const sections: Section[] = [{ headingPath: [], headings: [], start: 0, end: headings[0]?.start ?? text.length }]
  let path: readonly Heading[] = []
  let waiting: readonly Heading[] = []
  for (const [i, heading] of headings.entries()) {
    const next = headings[i + 1]
    path = [...path.filter((above) => above.level < heading.level), heading]
    waiting = waiting.concat(heading)
    if (next !== undefined && next.level > heading.level && text.slice(heading.end, next.start).trim() === '') continue
    const start = waiting[0]?.start ?? heading.start
    sections.push({ headingPath: titles(path), headings: waiting, start, end: next?.start ?? text.length })
    waiting = []
  }
  return sections
}

function titles(path: readonly Heading[]): readonly string[] {
  return path.map((heading) => heading.title).filter((title) => title !== '')
}

type Span = readonly [start: number, end: number]

function pieces(text: string, section: Pick<Section, 'start' | 'end'>): readonly Span[] {
  const spans: Span[] = []
  let start = skipSpace(text, section.start, section.end)
  while (start < section.end) {
    const cut =
      section.end - start <= MAX_PASSAGE_CHARS
        ? section.end
        : start + cutOf(text.slice(start, start + MAX_PASSAGE_CHARS))
    spans.push([start, start + text.slice(start, cut).trimEnd().length])
    start = skipSpace(text, cut, section.end)
  }
  return spans
}

/** Keeps the indentation of a line that is whole. */
function skipSpace(text: string, from: number, to: number): number {
  const rest = text.slice(from, to)
  const inLine = from > 0 && !'\n\u2029'.includes(text.charAt(from - 1))
  const space = (inLine ? /^\s*/ : /^(?:[^\S\n\u2029]*[\n\u2029])*/).exec(rest)?.[0].length ?? 0
  return rest.trim() === '' ? to : from + space
}

/** The best places to cut first. A phrase never goes over any but the last two of them. */
const ENDS: readonly RegExp[] = [
  // The end of a paragraph, a list item or a table row.
  /\n[^\S\n]*\n|\u2029|\n(?=[^\S\n]*(?:[-*+|]|\d+[.)]))/g,
  /[。！？；]|[.!?;:](?=\s)/g,
  /[，、：]|[,)](?=\s)/g,
  /\n/g,
  /\s/g,
]

/** Where to cut a window of the longest length: not too early if it can be helped, and never inside a character. */
function cutOf(window: string): number {
  for (const end of ENDS) {
    const cut = [...window.matchAll(end)].at(-1)
    if (cut !== undefined && cut.index >= MIN_PASSAGE_CHARS) return cut.index + cut[0].length
  }
  const last = window.charCodeAt(window.length - 1)
  return last >= 0xd800 && last < 0xdc00 ? window.length - 1 : window.length
}

function passageText(
  text: string,
  headings: readonly Heading[],
  [start, end]: Span,
): Pick<Passage, 'text' | 'heading' | 'body'> {
  const inside = headings.filter((heading) => heading.start >= start && heading.end <= end)
  let at = start
  let body = ''
  for (const heading of inside) {
    body += text.slice(at, heading.start)
    at = heading.end
  }
  return {
    text: text.slice(start, end),
    heading: inside.map((heading) => text.slice(heading.start, heading.end)).join('\n\n'),
    body: body + text.slice(at, end),
  }
}

/** Says on which line an offset is, for offsets that only grow. */
class LineCounter {
  readonly #text: string
  #offset = 0
  #line = 1

  constructor(text: string) {
    this.#text = text
  }

  at(offset: number): number {
    for (; this.#offset < offset; this.#offset++) if (this.#text.charCodeAt(this.#offset) === 10) this.#line++
    return this.#line
  }
}
