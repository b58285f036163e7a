/** The text of a document as HTML: headings as headings, paragraphs as paragraphs, and never as HTML of its own. */
import type { Shown, ShownHeading } from '../index/protocol.ts'
import { type Html, html, joined } from './html.ts'
import { languageOf, name } from './layout.ts'
import { marked, type Range } from './marked.ts'

/** Headings keep clear of the ids that pages have. */
export function headingId({ slug }: Pick<ShownHeading, 'slug'>): string {
  return `s-${slug}`
}

/** The heading that is the title of the document may have a few lines before it, such as a badge. */
const NEAR_THE_TOP = 300

export function readingOf(shown: Shown): Html {
  const end = shown.offset + shown.text.length
  const inside = shown.headings.filter(({ part }) => part === shown.part)
  const first = inside[0]
  const isTitle = first !== undefined && first.title === shown.title && first.at[0] - shown.offset < NEAR_THE_TOP
  const page = new Reading(shown)
  if (!isTitle) page.title()
  let at = shown.offset
  for (const [i, heading] of inside.entries()) {
    page.text([at, heading.at[0]])
    page.heading(heading, isTitle && i === 0)
    at = heading.at[1]
  }
  page.text([at, end])
  return page.made()
}

function textIn({ text, offset }: Shown, [start, end]: Range): string {
  return text.slice(start - offset, end - offset)
}

const HEADINGS = [
  (attributes: Html, text: Html) => html`<h2${attributes}>${text}</h2>`,
  (attributes: Html, text: Html) => html`<h3${attributes}>${text}</h3>`,
  (attributes: Html, text: Html) => html`<h4${attributes}>${text}</h4>`,
  (attributes: Html, text: Html) => html`<h5${attributes}>${text}</h5>`,
  (attributes: Html, text: Html) => html`<h6${attributes}>${text}</h6>`,
] as const

const ELEMENTS = {
  prose: (attributes: Html, text: Html) => html`<p${attributes}>${text}</p>`,
  plain: (attributes: Html, text: Html) => html`<p class="plain" ${attributes}>${text}</p>`,
  code: (attributes: Html, text: Html) => html`<pre${attributes}>${text}</pre>`,
} as const

class Reading {
  readonly #blocks: { readonly made: Html; readonly found: boolean }[] = []
  readonly #shown: Shown
  readonly #marks: readonly Range[]
  readonly #anchored = new Set<number>()
  /** The levels of the headings above, so that none is skipped however the document counts them. */
  #above: readonly number[] = []

  constructor(shown: Shown) {
    this.#shown = shown
    this.#marks = shown.found.flatMap(({ marks }) => marks)
  }

  /** What was found is held together, so that one line can stand beside it. */
  made(): Html {
    const runs: { readonly found: boolean; readonly made: Html[] }[] = []
    for (const { made, found } of this.#blocks) {
      const run = runs.at(-1)
      if (run?.found === found) run.made.push(made)
      else runs.push({ found, made: [made] })
    }
    return html`${runs.map(({ found, made }) => (found ? html`<div class="found">${made}</div>` : made))}`
  }

  #add(made: Html, range?: Range): void {
    const found = range !== undefined && this.#shown.found.some(({ at }) => overlap(at, range))
    this.#blocks.push({ made, found })
  }

  title(): void {
    const { title, part } = this.#shown
    const which = part > 1 ? html` <span class="soft">part ${part}</span>` : null
    this.#add(html`<h1${languageOf(title)}>${name(title)}${which}</h1>`)
  }

  heading(heading: ShownHeading, isTitle: boolean): void {
    const { at, title, level } = heading
    const start = at[0] + Math.max(0, textIn(this.#shown, at).indexOf(title))
    const whole = textIn(this.#shown, [start, start + title.length]) === title
    const text = whole ? this.#marked([start, start + title.length]) : html`${title}`
    const attributes = html` id="${headingId(heading)}"${languageOf(title)}`
    const content = html`${this.#anchors(at[1])}<bdi>${text}</bdi>`
    if (isTitle) return this.#add(html`<h1${attributes}>${content}</h1>`, at)
    this.#above = [...this.#above.filter((one) => one < level), level]
    this.#add((HEADINGS[this.#above.length - 1] ?? HEADINGS[4])(attributes, content), at)
  }

  text(range: Range): void {
    for (const block of blocksOf(textIn(this.#shown, range), this.#shown.file)) {
      const whole: Range = [range[0] + block.start, range[0] + block.end]
      const lines = block.lines.map(([from, to]) => this.#marked([whole[0] + from, whole[0] + to]))
      const content = joined(lines, html`<br />`)
      const attributes = html` dir="auto"${languageOf(textIn(this.#shown, whole))}`
      this.#add(ELEMENTS[block.kind](attributes, content), whole)
    }
  }

  /** With the places where links to found passages arrive, each where its passage begins. */
  #marked([start, end]: Range): Html {
    const { offset, text, found } = this.#shown
    const marks = this.#marks.flatMap(([from, to]) =>
      to > start && from < end ? [[from - offset, to - offset] as const] : [],
    )
    const inside = found.map(({ at }) => at[0]).filter((at) => at > start && at < end)
    const cuts = [start, ...inside, end]
    return html`${cuts.slice(1).map((cut, i) => {
      const from = cuts[i] ?? start
      return html`${this.#anchors(from + 1)}${marked(text, [from - offset, cut - offset], marks)}`
    })}`
  }

  /** Of the passages that begin before this, and were not reached yet. */
  #anchors(before: number): readonly Html[] {
    const { found, part } = this.#shown
    const fresh = found.filter((one) => one.part === part && one.at[0] < before && !this.#anchored.has(one.line))
    for (const { line } of fresh) this.#anchored.add(line)
    return fresh.map(({ line }) => html`<span id="L${line}"></span>`)
  }
}

function overlap(one: Range, other: Range): boolean {
  return one[0] < other[1] && other[0] < one[1]
}

interface Block {
  readonly kind: 'prose' | 'plain' | 'code'
  readonly start: number
  readonly end: number
  /** What is shown of it, in its own offsets. A line of prose that only goes on with the one before is part of that. */
  readonly lines: readonly Range[]
}

/** How the text of a file is laid out; any other is code, or lines that are best left as they are. */
const LAYOUTS: readonly (readonly [RegExp, 'markdown' | 'prose' | 'plain'])[] = [
  [/\.(?:md|markdown|mdown|mkd|mdx)$/i, 'markdown'],
  [/\.(?:rst|rest|adoc|asciidoc|asc|html?|xhtml|docx|epub)$/i, 'prose'],
  [/\.(?:txt|text|pdf)$|(?:^|\/)[^./]+$/i, 'plain'],
]
/** Blank lines, though not the indentation of the first line that is not blank. */
const LEADING = /^(?:\s*[\n\u2029])?/
const FENCE = /^ {0,3}(`{3,}|~{3,})/
/** A table row, or what is indented like code. */
const CODE = /^(?: {4}|\t| {0,3}\|)/
const ITEM = /^\s*(?:[-*+>•]|\d+[.)])\s/

function blocksOf(text: string, file: string): readonly Block[] {
  const layout = LAYOUTS.find(([files]) => files.test(file))?.[1]
  if (layout === undefined) return trimmed(text, [0, text.length], 'code')
  return runsOf(text, layout === 'markdown').flatMap(([start, end]) => {
    const run = text.slice(start, end).replace(LEADING, '')
    if (layout === 'plain') return trimmed(text, [start, end], 'plain')
    return trimmed(text, [start, end], (layout === 'markdown' && FENCE.test(run)) || CODE.test(run) ? 'code' : 'prose')
  })
}

/** What stands between blank lines; a fence of Markdown goes on to where it is closed. */
function runsOf(text: string, fences: boolean): readonly Range[] {
  const runs: Range[] = []
  let start = 0
  while (start < text.length) {
    const fence = fences ? FENCE.exec(text.slice(start, start + 20))?.[1] : undefined
    const end = fence === undefined ? blankAfter(text, start) : closeAfter(text, start, fence)
    if (text.slice(start, end).trim() !== '') runs.push([start, end])
    start = end
  }
  return runs
}

/** Behind the next blank line, or the end of a block of HTML. A fence may begin without a blank line before it. */
function blankAfter(text: string, start: number): number {
  const gap = /\n[^\S\n]*(?=\n)|\u2029|\n(?= {0,3}(?:`{3}|~{3}))/g
  gap.lastIndex = start
  const found = gap.exec(text)
  return found === null ? text.length : Math.max(start + 1, found.index + found[0].length)
}

function closeAfter(text: string, start: number, fence: string): number {
  const line = text.indexOf('\n', start)
  const close = line < 0 ? -1 : text.indexOf(`\n${fence}`, line)
  const end = close < 0 ? -1 : text.indexOf('\n', close + 1)
  return end < 0 ? text.length : end + 1
}

/** Without the blank lines around it; the indentation of the first line stays. */
function trimmed(text: string, [start, end]: Range, kind: Block['kind']): readonly Block[] {
  const run = text.slice(start, end)
  const lead = LEADING.exec(run)?.[0].length ?? 0
  const body = run.slice(lead).trimEnd()
  if (body === '') return []
  const from = start + lead
  const lines = kind === 'prose' ? linesOf(body) : [kind === 'code' ? insideFence(body) : ([0, body.length] as const)]
  return [{ kind, start: from, end: from + body.length, lines }]
}

/** Code without the fence around it, which its box stands for. */
function insideFence(body: string): Range {
  const fence = FENCE.exec(body)?.[1]
  const start = fence === undefined ? -1 : body.indexOf('\n')
  if (fence === undefined || start < 0) return [0, body.length]
  const close = body.lastIndexOf('\n')
  const isClosed =
    close > start &&
    body
      .slice(close + 1)
      .trim()
      .startsWith(fence)
  return [start + 1, isClosed ? close : body.length]
}

function linesOf(body: string): readonly Range[] {
  const starts = [0]
  for (const { index } of body.matchAll(/\n/g)) {
    const hard = body.slice(0, index).endsWith('  ') || ITEM.test(body.slice(index + 1, index + 80))
    if (hard) starts.push(index + 1)
  }
  return starts.map((start, i) => [start, (starts[i + 1] ?? body.length + 1) - 1])
}
