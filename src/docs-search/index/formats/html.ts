/** The text of HTML, its headings and its title. Blocks end with U+2029, so that every line keeps its number. */
import type { Heading, Outline } from '../document/outline.ts'
import { type HtmlHandler, type HtmlTag, readHtml } from './html-tokens.ts'

const INLINE = new Set(
  'a abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd label mark q s samp small span strike strong sub sup time tt u var wbr'.split(
    ' ',
  ),
)
const WITHOUT_TEXT = new Set(['script', 'style', 'template', 'svg', 'noscript', 'math', 'iframe'])
const PARAGRAPH_END = '\u2029'
const MAX_TITLE_CHARS = 300

export function outlineOfHtml(source: string): Outline {
  const page = new Page()
  readHtml(source, page)
  return page.outline()
}

/** HTML that a program made, with a line for each block, so that what is found in it stands on a line of its own. */
export function withLines(source: string): string {
  return source.replaceAll(/<\/(?:p|h[1-6]|li|tr|div|blockquote|pre)>/gi, '$&\n')
}

class Page implements HtmlHandler {
  #text = ''
  #title: string | undefined
  readonly #headings: Heading[] = []
  /** Where the text of an open heading or title begins. */
  readonly #starts = new Map<string, number>()
  /** The element whose content is left out, up to its end tag. */
  #hidden: string | undefined

  text(text: string): void {
    if (this.#hidden === undefined) this.#text += text
    else this.markup(text)
  }

  /** Only its line ends. */
  markup(source: string): void {
    for (const character of source) if (character === '\n') this.#text += '\n'
  }

  open({ name, isSelfClosing }: HtmlTag): void {
    if (this.#hidden !== undefined) return
    if (!INLINE.has(name)) this.#text += PARAGRAPH_END
    if (/^(?:h[1-6]|title)$/.test(name)) this.#starts.set(name, this.#text.length)
    if (WITHOUT_TEXT.has(name) && !isSelfClosing) this.#hidden = name
  }

  close(name: string): void {
    if (this.#hidden === name) this.#hidden = undefined
    if (this.#hidden !== undefined) return
    const start = this.#starts.get(name)
    if (start !== undefined) this.#closeHeading(name, start)
    if (!INLINE.has(name)) this.#text += PARAGRAPH_END
  }

  #closeHeading(name: string, start: number): void {
    this.#starts.delete(name)
    const title = this.#text
      .slice(start, start + MAX_TITLE_CHARS)
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
