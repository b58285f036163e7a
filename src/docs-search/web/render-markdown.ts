/** Markdown as HTML: made of our own elements from the tokens of a lexer, never of HTML that a document has or a library makes. */
import type { MarkedToken, Token, Tokens } from 'marked'
import { markdownTokensOf } from '../../markdown/bounded-lexer.ts'
import { type Html, html } from './parts/html.ts'
import { pageLanguageOf } from './parts/layout.ts'
import type { TextRange } from '../../text/query.ts'

const LIMITS = { depth: 24, paragraph: 3_000 }

/** The page's part of rendering: text with its marks, and the addresses of links. */
export interface MarkdownHost {
  /** A piece of the source as text, with what is marked in it. */
  text(range: TextRange): Html
  /** Where a link of the document leads; undefined: nowhere that it may. */
  addressOf(href: string): string | undefined
}

export interface MarkdownBlock {
  readonly made: Html
  readonly range: TextRange
}

/** The blocks of each range of the source, which come in order. Its lines end with a line feed, as the index has them. */
export function markdownBlocks(
  source: string,
  ranges: readonly TextRange[],
  surroundings: MarkdownHost,
): readonly (() => readonly MarkdownBlock[])[] {
  const tokens = markdownTokensOf(
    ranges.map(([start, end]) => source.slice(start, end)),
    LIMITS,
  )
  return ranges.map((range, i) => () => new Rendering(source, range, surroundings).blocks(tokens[i] ?? []))
}

/** A short row counts as many cells as the table has columns, so a few characters may ask for millions of them. */
const MOST_CELLS = 10_000
/** How much markup may stand between two pieces of text, such as the address of a link. */
const REACH = 2_000
const ENTITY = /&(?:#\d{1,7}|#[xX][\da-fA-F]{1,6}|[a-zA-Z]{2,8});/g
const NAMED: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: '\u00a0',
  copy: '©',
  hellip: '…',
  mdash: '—',
  ndash: '–',
}
const BREAK = /^<br\s*\/?>$/i

/** Walks tokens in the order of the source, so that each piece of text is found behind the one before. */
class Rendering {
  readonly #source: string
  readonly #end: number
  readonly #surroundings: MarkdownHost
  #at: number
  #inLink = false

  constructor(source: string, [start, end]: TextRange, surroundings: MarkdownHost) {
    this.#source = source
    this.#at = start
    this.#end = end
    this.#surroundings = surroundings
  }

  blocks(tokens: readonly Token[]): readonly MarkdownBlock[] {
    let start = this.#at
    return tokens.flatMap((token) => {
      const range: TextRange = [start, Math.min(this.#end, start + token.raw.length)]
      start = range[1]
      this.#at = range[0]
      const made = this.#block(token as MarkedToken)
      return made === null ? [] : [{ made, range }]
    })
  }

  #block(token: MarkedToken): Html | null {
    switch (token.type) {
      case 'space':
      case 'def':
        this.#skip(token.raw)
        return null
      case 'hr':
        this.#skip(token.raw)
        return html`<hr />`
      case 'code':
        return html`<pre>${this.#lines(token.text)}</pre>`
      case 'html':
        return html`<p class="plain" dir="auto">${this.#lines(token.text.trimEnd())}</p>`
      case 'heading':
        return html`<p class="head"><b>${this.#inline(token.tokens)}</b></p>`
      case 'blockquote':
        return html`<blockquote>${this.#inner(token.tokens)}</blockquote>`
      case 'list':
        return this.#list(token)
      case 'table':
        return this.#table(token)
      case 'text':
        // The text of a list item that has no paragraphs.
        return html`${this.#inline(token.tokens ?? [token])} `
      case 'checkbox':
        this.#skip(token.raw)
        return html`${token.checked ? '☑' : '☐'} `
      default:
        return html`<p dir="auto" ${pageLanguageOf(token.raw)}>
          ${this.#inline('tokens' in token ? (token.tokens ?? []) : [token])}
        </p>`
    }
  }

  #inner(tokens: readonly Token[]): Html {
    return html`${tokens.map((token) => this.#block(token as MarkedToken))}`
  }

  #list({ ordered, start, items }: Tokens.List): Html {
    const made = items.map((item) => html`<li>${this.#inner(item.tokens)}</li>`)
    if (!ordered)
      return html`<ul>
        ${made}
      </ul>`
    return html`<ol start="${Number.isSafeInteger(start) ? start : 1}">
      ${made}
    </ol>`
  }

  /** A table that is wider than the screen moves in its own frame, by keys too. */
  #table({ header, rows, raw }: Tokens.Table): Html {
    if (header.length * rows.length > MOST_CELLS) return html`<pre>${this.#lines(raw.trimEnd())}</pre>`
    const head = header.map(({ tokens }) => html`<th>${this.#inline(tokens)}</th>`)
    const body = rows.map(
      (row) =>
        html`<tr>
          ${row.map(({ tokens }) => html`<td>${this.#inline(tokens)}</td>`)}
        </tr>`,
    )
    const filled =
      body.length === 0
        ? null
        : html`<tbody>
            ${body}
          </tbody>`
    return html`<div class="table" role="group" aria-label="Table" tabindex="0">
      <table>
        <thead>
          <tr>
            ${head}
          </tr>
        </thead>
        ${filled}
      </table>
    </div>`
  }

  #inline(tokens: readonly Token[]): Html {
    return html`${tokens.map((token) => this.#piece(token as MarkedToken))}`
  }

  #piece(token: MarkedToken): Html {
    switch (token.type) {
      case 'strong':
        return html`<strong>${this.#inline(token.tokens)}</strong>`
      case 'em':
        return html`<em>${this.#inline(token.tokens)}</em>`
      case 'del':
        return html`<del>${this.#inline(token.tokens)}</del>`
      case 'codespan':
        return html`<code>${this.#lines(token.text)}</code>`
      case 'br':
        return html`<br />`
      case 'escape':
        return this.#lines(token.text)
      case 'link':
        return this.#link(token, token.tokens)
      case 'image':
        return this.#link(token, [{ type: 'text', raw: token.text, text: token.text }])
      case 'html':
        return BREAK.test(token.raw) ? html`<br />` : this.#lines(token.raw)
      default:
        return this.#withEntities(token.raw)
    }
  }

  /** A picture of elsewhere is not fetched; its name leads to it. */
  #link({ raw, href }: Tokens.Link | Tokens.Image, tokens: readonly Token[]): Html {
    const start = this.#find(raw)?.[0]
    const address = this.#inLink ? undefined : this.#surroundings.addressOf(decodeAddress(href))
    this.#at = start ?? this.#at
    if (address === undefined) return this.#inside(start, raw, () => this.#inline(tokens))
    this.#inLink = true
    const made = this.#inside(start, raw, () => this.#inline(tokens))
    this.#inLink = false
    const outside = /^(?:https?|mailto):/.test(address)
    return outside ? html`<a href="${address}" rel="noreferrer">${made}</a>` : html`<a href="${address}">${made}</a>`
  }

  /** The target of a link is in its address, too. */
  #inside(start: number | undefined, raw: string, make: () => Html): Html {
    const made = make()
    if (start !== undefined) this.#at = Math.max(this.#at, start + raw.length)
    return made
  }

  #withEntities(raw: string): Html {
    let at = 0
    const parts: Html[] = []
    for (const { index, 0: entity } of raw.matchAll(ENTITY)) {
      const character = decodeAddress(entity)
      if (character === entity) continue
      parts.push(this.#lines(raw.slice(at, index)), html`${character}`)
      this.#skip(entity)
      at = index + entity.length
    }
    return html`${parts}${this.#lines(raw.slice(at))}`
  }

  /** Line by line where a quotation or a list has its signs between the lines, or a table a sign before each bar. */
  #lines(text: string): Html {
    const whole = this.#find(text)
    if (whole !== undefined) return this.#surroundings.text(whole)
    const pieces = text.split(/(\n|\|)/).map((piece) => {
      const range = this.#find(piece)
      return range === undefined ? html`${piece}` : this.#surroundings.text(range)
    })
    return html`${pieces}`
  }

  #skip(raw: string): void {
    this.#find(raw.trim())
  }

  /** Finds the next place of a text in the source; the search for later texts begins behind it. */
  #find(text: string): TextRange | undefined {
    if (text === '') return undefined
    const window = this.#source.slice(this.#at, Math.min(this.#end, this.#at + text.length + REACH))
    const index = window.indexOf(text)
    if (index < 0) return undefined
    const start = this.#at + index
    this.#at = start + text.length
    return [start, this.#at]
  }
}

function decodeAddress(text: string): string {
  return text.replace(ENTITY, (entity) => {
    const name = entity.slice(1, -1)
    if (!name.startsWith('#')) return Object.hasOwn(NAMED, name) ? (NAMED[name] ?? entity) : entity
    const code = /^#x/i.test(name) ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1))
    return code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff) ? String.fromCodePoint(code) : '\ufffd'
  })
}
