/** The text of HTML, its headings and its title. Blocks end with U+2029, so that no line gets another number. */
import { decodeHTMLStrict } from 'entities'
import type { Heading, Outline } from '../document/outline.ts'

const INLINE = new Set(
  'a abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd label mark q s samp small span strike strong sub sup time tt u var wbr'.split(
    ' ',
  ),
)
const WITHOUT_TEXT = new Set(['script', 'style', 'template', 'svg', 'noscript', 'math', 'iframe'])
const PARAGRAPH_END = '\u2029'
const LONGEST_TITLE = 300

interface Tag {
  readonly name: string
  readonly closing: boolean
  /** Offset behind the tag. */
  readonly end: number
}

export function html(source: string): Outline {
  const page = new Page(source.lastIndexOf('>'))
  let at = 0
  while (at < source.length) {
    const open = source.indexOf('<', at)
    const stop = open < 0 ? source.length : open
    page.write(decodeHTMLStrict(source.slice(at, stop)))
    at = open < 0 ? stop : page.markup(source, open)
  }
  return page.outline()
}

/** The text so far, and what was open when it was written. Reads every character of the source once. */
class Page {
  #text = ''
  #title: string | undefined
  readonly #headings: Heading[] = []
  readonly #open = new Map<string, number>()
  readonly #lastTagEnd: number

  constructor(lastTagEnd: number) {
    this.#lastTagEnd = lastTagEnd
  }

  write(text: string): void {
    this.#text += text
  }

  /** Takes the markup that starts at `open` and says where it ends. */
  markup(source: string, open: number): number {
    if (source.startsWith('<!--', open)) return this.#skip(source, open, endOf(source, '-->', open))
    const tag = open < this.#lastTagEnd ? tagAt(source, open) : undefined
    if (tag === undefined) {
      this.write('<')
      return open + 1
    }
    this.#take(tag)
    const end = !tag.closing && WITHOUT_TEXT.has(tag.name) ? closeOf(source, tag) : tag.end
    return this.#skip(source, open, end)
  }

  /** Leaves markup out, but for its line ends. */
  #skip(source: string, from: number, to: number): number {
    for (const character of source.slice(from, to)) if (character === '\n') this.write('\n')
    return to
  }

  #take({ name, closing }: Tag): void {
    const start = this.#open.get(name)
    if (closing && start !== undefined) this.#close(name, start)
    if (!INLINE.has(name)) this.write(PARAGRAPH_END)
    if (!closing && /^(?:h[1-6]|title)$/.test(name)) this.#open.set(name, this.#text.length)
  }

  #close(name: string, start: number): void {
    this.#open.delete(name)
    const title = this.#text
      .slice(start, start + LONGEST_TITLE)
      .replace(/\s+/g, ' ')
      .trim()
    if (title === '') return
    if (name === 'title') this.#title ??= title
    else this.#headings.push({ level: Number(name.slice(1)), title, start, end: this.#text.length })
  }

  outline(): Outline {
    return {
      text: this.#text,
      ...(this.#title === undefined ? {} : { title: this.#title }),
      headings: this.#headings,
    }
  }
}

function endOf(source: string, mark: string, from: number): number {
  const at = source.indexOf(mark, from)
  return at < 0 ? source.length : at + mark.length
}

function tagAt(source: string, open: number): Tag | undefined {
  const name = /^<[!?/]?([a-z][a-z0-9:-]*)/i.exec(source.slice(open, open + 64))?.[1]
  const end = source.indexOf('>', open)
  if (name === undefined || end < 0) return undefined
  return { name: name.toLowerCase(), closing: source.charAt(open + 1) === '/', end: end + 1 }
}

function closeOf(source: string, tag: Tag): number {
  if (source.charAt(tag.end - 2) === '/') return tag.end
  const close = new RegExp(`</${tag.name}[^>]*>`, 'gi')
  close.lastIndex = tag.end
  const match = close.exec(source)
  return match === null ? source.length : match.index + match[0].length
}
