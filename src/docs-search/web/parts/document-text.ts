/** The text of a document as HTML: headings as headings, paragraphs as paragraphs, and never as HTML of its own. */
import type { Shown, ShownHeading } from '../../index/worker/protocol.ts'
import { type Html, html, joinHtml } from './html.ts'
import { pageLanguageOf, name } from './layout.ts'
import { headingId, linkAddress } from '../links.ts'
import { type MarkdownBlock, markdownBlocks } from '../render-markdown.ts'
import type { TextRange } from '../../../text/query.ts'
import { marked } from './marked.ts'

/** The heading that is the title of the document may have a few lines before it, such as a badge. */
const NEAR_THE_TOP = 300

export function readingOf(shown: Shown): Html {
  const end = shown.offset + shown.text.length
  const inside = shown.headings.filter(({ part }) => part === shown.part)
  const first = inside[0]
  const isTitle = first !== undefined && first.title === shown.title && first.at[0] - shown.offset < NEAR_THE_TOP
  const starts = [shown.offset, ...inside.map(({ at }) => at[1])]
  const between = starts.map((start, i): TextRange => [start, inside[i]?.at[0] ?? end])
  const page = new Reading(shown, between)
  if (!isTitle) page.title()
  for (const [i, text] of between.entries()) {
    page.text(text, i)
    const heading = inside[i]
    if (heading !== undefined) page.heading(heading, isTitle && i === 0)
  }
  return page.made()
}

function textIn({ text, offset }: Shown, [start, end]: TextRange): string {
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
  readonly #marks: readonly TextRange[]
  readonly #found: Shown['found']
  readonly #anchored = new Set<number>()
  /** The levels of the headings above, so that none is skipped however the document counts them. */
  #above: readonly number[] = []
  /** Of each text between headings; none where the document is not Markdown. */
  readonly #markdown: readonly (() => readonly MarkdownBlock[])[]

  constructor(shown: Shown, between: readonly TextRange[]) {
    this.#shown = shown
    this.#found = shown.found.filter(({ part }) => part === shown.part)
    this.#marks = this.#found.flatMap(({ marks }) => marks)
    this.#markdown = layoutOf(shown.file) === 'markdown' ? this.#readMarkdown(between) : []
  }

  #readMarkdown(between: readonly TextRange[]): readonly (() => readonly MarkdownBlock[])[] {
    const { text, offset } = this.#shown
    const ranges = between.map(([start, end]): TextRange => [start - offset, end - offset])
    return markdownBlocks(text, ranges, {
      text: ([start, end]) => this.#marked([start + offset, end + offset]),
      addressOf: (href) => linkAddress(this.#shown, href),
    })
  }

  /** Adjacent blocks of one match share an element, so that one line can be drawn beside them. */
  made(): Html {
    const runs: { readonly found: boolean; readonly made: Html[] }[] = []
    for (const { made, found } of this.#blocks) {
      const run = runs.at(-1)
      if (run?.found === found) run.made.push(made)
      else runs.push({ found, made: [made] })
    }
    return html`${runs.map(({ found, made }) => (found ? html`<div class="found">${made}</div>` : made))}`
  }

  #add(made: Html, range?: TextRange): void {
    const found = range !== undefined && this.#shown.found.some(({ at }) => overlap(at, range))
    this.#blocks.push({ made, found })
  }

  title(): void {
    const { title, part } = this.#shown
    const which = part > 1 ? html` <span class="soft">part ${part}</span>` : null
    this.#add(html`<h1${pageLanguageOf(title)}>${name(title)}${which}</h1>`)
  }

  heading(heading: ShownHeading, isTitle: boolean): void {
    const { at, title, level } = heading
    const start = at[0] + Math.max(0, textIn(this.#shown, at).indexOf(title))
    const whole = textIn(this.#shown, [start, start + title.length]) === title
    const text = whole ? this.#marked([start, start + title.length]) : html`${title}`
    const attributes = html` id="${headingId(heading)}"${pageLanguageOf(title)}`
    const content = html`${this.#anchors(at[1])}<bdi>${text}</bdi>`
    if (isTitle) return this.#add(html`<h1${attributes}>${content}</h1>`, at)
    this.#above = [...this.#above.filter((one) => one < level), level]
    this.#add((HEADINGS[this.#above.length - 1] ?? HEADINGS[4])(attributes, content), at)
  }

  /** `index` counts the texts between headings. */
  text(range: TextRange, index: number): void {
    const { offset } = this.#shown
    const blocks = this.#markdown[index]
    if (blocks === undefined || isFrontMatter(textIn(this.#shown, range), range)) return this.#blocksOf(range)
    for (const { made, range: at } of blocks()) this.#add(made, [at[0] + offset, at[1] + offset])
  }

  #blocksOf(range: TextRange): void {
    for (const block of blocksOf(textIn(this.#shown, range), this.#shown.file)) {
      const whole: TextRange = [range[0] + block.start, range[0] + block.end]
      const lines = block.lines.map(([from, to]) => this.#marked([whole[0] + from, whole[0] + to]))
      const content = joinHtml(lines, html`<br />`)
      const attributes = html` dir="auto"${pageLanguageOf(textIn(this.#shown, whole))}`
      this.#add(ELEMENTS[block.kind](attributes, content), whole)
    }
  }

  /** With the places where links to found passages arrive, each where its passage begins. */
  #marked([start, end]: TextRange): Html {
    const { offset, text } = this.#shown
    const marks = this.#marksIn([start, end]).map(([from, to]): TextRange => [from - offset, to - offset])
    const inside = this.#found.map(({ at }) => at[0]).filter((at) => at > start && at < end)
    const cuts = [start, ...inside, end]
    return html`${cuts.slice(1).map((cut, i) => {
      const from = cuts[i] ?? start
      return html`${this.#anchors(from + 1)}${marked(text, [from - offset, cut - offset], marks)}`
    })}`
  }

  /** A long part has thousands of marks and of pieces, so the first one is looked for by halves. */
  #marksIn([start, end]: TextRange): readonly TextRange[] {
    let [low, high] = [0, this.#marks.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.#marks[middle]?.[1] ?? end) > start) high = middle
      else low = middle + 1
    }
    let after = low
    while ((this.#marks[after]?.[0] ?? end) < end) after++
    return this.#marks.slice(low, after)
  }

  /** Of the passages that begin before this, and were not reached yet. */
  #anchors(before: number): readonly Html[] {
    const fresh = this.#found.filter((one) => one.at[0] < before && !this.#anchored.has(one.line))
    for (const { line } of fresh) this.#anchored.add(line)
    return fresh.map(({ line }) => html`<span id="L${line}"></span>`)
  }
}

function overlap(one: TextRange, other: TextRange): boolean {
  return one[0] < other[1] && other[0] < one[1]
}

interface Block {
  readonly kind: 'prose' | 'plain' | 'code'
  readonly start: number
  readonly end: number
  /** The part that is shown, in its own offsets. A line of prose that continues the one before belongs to that one. */
  readonly lines: readonly TextRange[]
}

/** How the text of a file is laid out; any other is code, or lines that are best left as they are. */
const LAYOUTS: readonly (readonly [RegExp, 'markdown' | 'prose' | 'plain'])[] = [
  [/\.(?:md|markdown|mdown|mkd|mdx)$/i, 'markdown'],
  [/\.(?:rst|rest|adoc|asciidoc|asc|html?|xhtml|docx|epub)$/i, 'prose'],
  [/\.(?:txt|text|pdf)$|(?:^|\/)[^./]+$/i, 'plain'],
]
/** Blank lines, though not the indentation of the first line that is not blank. */
const LEADING = /^(?:\s*[\n\u2029])?/
/** A table row, or what is indented like code. */
const CODE = /^(?: {4}|\t| {0,3}\|)/
const ITEM = /^\s*(?:[-*+>•]|\d+[.)])\s/

export function layoutOf(file: string): 'markdown' | 'prose' | 'plain' | undefined {
  return LAYOUTS.find(([files]) => files.test(file))?.[1]
}

/** The front matter of a Markdown file, which programs read. */
function isFrontMatter(text: string, [start]: TextRange): boolean {
  return start === 0 && /^---[^\S\n]*\n[^]*?\n(?:---|\.\.\.)\s*$/.test(text)
}

function blocksOf(text: string, file: string): readonly Block[] {
  const layout = layoutOf(file)
  if (layout === undefined || layout === 'markdown') return trimmed(text, [0, text.length], 'code')
  return runsOf(text).flatMap(([start, end]) => {
    const run = text.slice(start, end).replace(LEADING, '')
    if (layout === 'plain') return trimmed(text, [start, end], 'plain')
    return trimmed(text, [start, end], CODE.test(run) ? 'code' : 'prose')
  })
}

/** The text between blank lines. */
function runsOf(text: string): readonly TextRange[] {
  const runs: TextRange[] = []
  let start = 0
  while (start < text.length) {
    const end = blankAfter(text, start)
    if (text.slice(start, end).trim() !== '') runs.push([start, end])
    start = end
  }
  return runs
}

/** Behind the next blank line, or the end of a block of HTML. */
function blankAfter(text: string, start: number): number {
  const gap = /\n[^\S\n]*(?=\n)|\u2029/g
  gap.lastIndex = start
  const found = gap.exec(text)
  return found === null ? text.length : Math.max(start + 1, found.index + found[0].length)
}

/** Without the blank lines around it; the indentation of the first line stays. */
function trimmed(text: string, [start, end]: TextRange, kind: Block['kind']): readonly Block[] {
  const run = text.slice(start, end)
  const lead = LEADING.exec(run)?.[0].length ?? 0
  const body = run.slice(lead).trimEnd()
  if (body === '') return []
  const from = start + lead
  const lines = kind === 'prose' ? lineRanges(body) : [[0, body.length] as const]
  return [{ kind, start: from, end: from + body.length, lines }]
}

function lineRanges(body: string): readonly TextRange[] {
  const starts = [0]
  for (const { index } of body.matchAll(/\n/g)) {
    const hard = body.slice(0, index).endsWith('  ') || ITEM.test(body.slice(index + 1, index + 80))
    if (hard) starts.push(index + 1)
  }
  return starts.map((start, i) => [start, (starts[i + 1] ?? body.length + 1) - 1])
}
