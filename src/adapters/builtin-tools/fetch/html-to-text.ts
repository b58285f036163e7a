/** The text of a web page for a model: headings, lists, links and code keep their shape. */
import { type HtmlHandler, type HtmlTag, readHtml } from '../../../docs-search/index/formats/html-tokens.ts'

/** Elements whose content is not text. */
const HIDDEN = new Set([
  'script',
  'style',
  'noscript',
  'template',
  'svg',
  'iframe',
  'object',
  'canvas',
  'select',
  'head',
])
/** Elements that begin and end a line. */
const BLOCKS = new Set(
  `address article aside blockquote br dd details div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr li
  main nav ol p pre section summary table tr ul`.split(/\s+/u),
)
const MAX_TITLE_CHARS = 1_000

export interface ReadablePage {
  readonly title: string
  readonly text: string
}

export function readablePage(html: string, base: URL): ReadablePage {
  const reader = new PageReader(base)
  readHtml(html, reader)
  return { title: squeezed(reader.title ?? ''), text: tidy(reader.written) }
}

class PageReader implements HtmlHandler {
  readonly #base: URL
  written = ''
  /** Undefined until the page gives itself one. */
  title: string | undefined
  #isInTitle = false
  /** The element whose content is left out, up to its end tag. */
  #hidden: string | undefined
  #preDepth = 0
  #href: string | undefined

  constructor(base: URL) {
    this.#base = base
  }

  text(text: string): void {
    if (this.#isInTitle) this.title = `${this.title ?? ''}${text}`.slice(0, MAX_TITLE_CHARS)
    if (this.#hidden !== undefined || this.#isInTitle) return
    this.written += this.#preDepth > 0 ? text : text.replaceAll(/\s+/gu, ' ')
  }

  open({ name, attributes, isSelfClosing }: HtmlTag): void {
    // A page names itself in its head, whose text is left out.
    if (name === 'title') this.#isInTitle = this.title === undefined && !isSelfClosing
    else if (this.#hidden !== undefined) return
    else if (HIDDEN.has(name)) this.#hidden = isSelfClosing ? undefined : name
    else if (name === 'a') this.#href = attributes.get('href')
    else if (name === 'img') this.written += attributes.get('alt') ?? ''
    else if (name === 'pre') this.#fence(1)
    else if (BLOCKS.has(name)) this.#block(name, true)
  }

  close(name: string): void {
    if (name === 'title') this.#isInTitle = false
    else if (this.#hidden !== undefined) this.#hidden = name === this.#hidden ? undefined : this.#hidden
    else if (name === 'a') this.#link()
    else if (name === 'td' || name === 'th') this.written += ' | '
    else if (name === 'pre') this.#fence(-1)
    else if (BLOCKS.has(name)) this.#block(name, false)
  }

  #fence(step: 1 | -1): void {
    this.#preDepth = Math.max(0, this.#preDepth + step)
    this.written += '\n```\n'
  }

  #block(name: string, isStart: boolean): void {
    const level = /^h([1-6])$/u.exec(name)?.[1]
    const mark = level !== undefined ? `${'#'.repeat(Number(level))} ` : name === 'li' ? '- ' : ''
    this.written += `${level !== undefined || name === 'p' ? '\n\n' : '\n'}${isStart ? mark : ''}`
  }

  #link(): void {
    const href = this.#href
    this.#href = undefined
    if (href === undefined || href.startsWith('#') || !URL.canParse(href, this.#base)) return
    const url = new URL(href, this.#base)
    if (/^https?:$/u.test(url.protocol)) this.written += ` (${url.href})`
  }
}

function squeezed(text: string): string {
  return text.replaceAll(/\s+/gu, ' ').trim()
}

function tidy(text: string): string {
  const lines = text.split('\n').map((line) => line.trimEnd())
  return lines
    .join('\n')
    .replaceAll(/\n{3,}/gu, '\n\n')
    .replaceAll(/^-\s*\n+/gmu, '- ')
    .trim()
}
