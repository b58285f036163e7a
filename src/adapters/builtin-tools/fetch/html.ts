/** The text of a page for a reader without eyes: headings, lists, links and code keep their shape. */
import { decodeHTMLStrict } from 'entities'

/** What is between these is no text. */
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
/** What begins a line of its own. */
const BLOCKS = new Set(
  `address article aside blockquote br dd details div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr li
  main nav ol p pre section summary table tr ul`.split(/\s+/u),
)
const NAME = /<(\/?)([A-Za-z][\w:-]*)/uy

export interface ReadablePage {
  readonly title: string
  readonly text: string
}

export function readablePage(html: string, base: URL): ReadablePage {
  const reader = new Reader(base)
  const text = tidy(reader.read(html))
  return { title: squeezed(decodeHTMLStrict(reader.title ?? '')), text }
}

interface Tag {
  readonly start: number
  readonly end: number
  /** Undefined for a comment and the like. */
  readonly name?: string
  readonly isEnd: boolean
  readonly attributes: string
}

/** Looks at no letter twice, whoever wrote the page: what does not end is text. */
function* tagsIn(html: string): Generator<Tag> {
  let at = html.indexOf('<')
  while (at >= 0) {
    const tag = tagAt(html, at)
    if (tag === 'endless') return
    if (tag !== undefined) yield tag
    at = html.indexOf('<', tag?.end ?? at + 1)
  }
}

function tagAt(html: string, start: number): Tag | 'endless' | undefined {
  if (html.startsWith('<!--', start)) {
    const end = html.indexOf('-->', start + 4)
    return { start, end: end < 0 ? html.length : end + 3, isEnd: false, attributes: '' }
  }
  if (/[!?]/u.test(html.charAt(start + 1))) {
    const end = html.indexOf('>', start)
    return end < 0 ? 'endless' : { start, end: end + 1, isEnd: false, attributes: '' }
  }
  NAME.lastIndex = start
  const [begin = '', slash, name] = NAME.exec(html) ?? []
  if (name === undefined) return undefined
  const from = start + begin.length
  const end = endOfTag(html, from)
  if (end < 0) return 'endless'
  return { start, end: end + 1, name: name.toLowerCase(), isEnd: slash === '/', attributes: html.slice(from, end) }
}

/** The next `>` that is in no quotes; they quote only what stands behind a `=`. */
function endOfTag(html: string, from: number): number {
  let [at, isValue] = [from, false]
  while (at < html.length) {
    const letter = html.charAt(at)
    if (letter === '>') return at
    if (isValue && (letter === '"' || letter === "'")) {
      at = html.indexOf(letter, at + 1)
      if (at < 0) return -1
    }
    if (letter.trim() !== '') isValue = letter === '='
    at += 1
  }
  return -1
}

class Reader {
  readonly #base: URL
  #out = ''
  /** What hides all up to its end. */
  #hiding: string | undefined
  #pre = 0
  #href: string | undefined
  title: string | undefined

  constructor(base: URL) {
    this.#base = base
  }

  read(html: string): string {
    let at = 0
    for (const { start, end, name, isEnd, attributes } of tagsIn(html)) {
      const text = html.slice(at, start)
      this.#text(text)
      // What ends a title is the next tag, even in what is hidden.
      if (this.title === '') this.title = text
      at = end
      if (name === 'title' && !isEnd) this.title ??= ''
      if (name !== undefined) this.#tag(name, isEnd, attributes)
    }
    this.#text(html.slice(at))
    return this.#out
  }

  #text(raw: string): void {
    if (this.#hiding !== undefined || raw === '') return
    const text = decodeHTMLStrict(raw)
    this.#out += this.#pre > 0 ? text : text.replaceAll(/\s+/gu, ' ')
  }

  #tag(name: string, isEnd: boolean, attributes: string): void {
    if (this.#hiding !== undefined) {
      if (isEnd && name === this.#hiding) this.#hiding = undefined
    } else if (HIDDEN.has(name) && !isEnd && !attributes.endsWith('/')) this.#hiding = name
    else if (name === 'a') this.#link(isEnd, attributes)
    else if (name === 'td' || name === 'th') this.#out += isEnd ? ' | ' : ''
    else if (name === 'img') this.#out += attributeOf('alt', attributes) ?? ''
    else if (BLOCKS.has(name)) this.#block(name, isEnd)
  }

  #block(name: string, isEnd: boolean): void {
    if (name === 'pre') {
      this.#pre = Math.max(0, this.#pre + (isEnd ? -1 : 1))
      this.#out += '\n```\n'
      return
    }
    const level = /^h([1-6])$/u.exec(name)?.[1]
    const gap = level !== undefined || name === 'p' ? '\n\n' : '\n'
    const mark = isEnd ? '' : level !== undefined ? `${'#'.repeat(Number(level))} ` : name === 'li' ? '- ' : ''
    this.#out += `${gap}${mark}`
  }

  #link(isEnd: boolean, attributes: string): void {
    if (!isEnd) {
      this.#href = attributeOf('href', attributes)
      return
    }
    const href = this.#href
    this.#href = undefined
    const url =
      href === undefined || href.startsWith('#') || !URL.canParse(href, this.#base)
        ? undefined
        : new URL(href, this.#base)
    if (url !== undefined && /^https?:$/u.test(url.protocol)) this.#out += ` (${url.href})`
  }
}

function attributeOf(name: string, attributes: string): string | undefined {
  const found = new RegExp(`(?:^|\\s)${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)'|([^\\s"'>]+))`, 'iu').exec(attributes)
  const value = found?.[1] ?? found?.[2] ?? found?.[3]
  return value === undefined ? undefined : decodeHTMLStrict(value)
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
