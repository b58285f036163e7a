/**
 * Tokens of Markdown as a tree of elements, by a table: no HTML string is ever made, so there is none to clean. What the table does
 * not know is text. Pure.
 */
import type { Token, Tokens } from 'marked'
import { safeLink, splitBareAddress } from './links.ts'

export type Node = string | Element

export type Element =
  | { readonly is: Plain; readonly children: readonly Node[] }
  | { readonly is: 'heading'; readonly level: number; readonly children: readonly Node[] }
  | { readonly is: 'list'; readonly start: number | undefined; readonly children: readonly Node[] }
  | { readonly is: 'item'; readonly checked: boolean | undefined; readonly children: readonly Node[] }
  | {
      readonly is: 'link'
      readonly href: string
      readonly host: string | undefined
      readonly children: readonly Node[]
    }
  | { readonly is: 'cell'; readonly isHead: boolean; readonly align: Align; readonly children: readonly Node[] }
  | { readonly is: 'code block'; readonly language: string; readonly code: string }
  | { readonly is: 'code'; readonly code: string }

type Align = 'center' | 'left' | 'right' | null

export type Plain =
  | 'paragraph'
  | 'quotation'
  | 'strong'
  | 'emphasis'
  | 'deleted'
  | 'break'
  | 'rule'
  | 'table'
  | 'row'
  | 'piece'

type Reading = (token: never) => readonly Node[]

/** One row for each kind of token. */
const READINGS: Readonly<Record<string, Reading>> = {
  space: () => [],
  def: () => [],
  hr: () => [plain('rule', [])],
  br: () => [plain('break', [])],
  text: (token: Tokens.Text) => (token.tokens === undefined ? [token.text] : nodes(token.tokens)),
  escape: (token: Tokens.Escape) => [token.text],
  html: ({ raw }: Tokens.HTML) => [raw],
  paragraph: (token: Tokens.Paragraph) => [plain('paragraph', inPieces(nodes(token.tokens)))],
  blockquote: (token: Tokens.Blockquote) => [plain('quotation', blocks(token.tokens))],
  strong: (token: Tokens.Strong) => [plain('strong', nodes(token.tokens))],
  em: (token: Tokens.Em) => [plain('emphasis', nodes(token.tokens))],
  del: (token: Tokens.Del) => [plain('deleted', nodes(token.tokens))],
  codespan: ({ text }: Tokens.Codespan) => [{ is: 'code', code: text }],
  code: ({ text, lang = '' }: Tokens.Code) => [{ is: 'code block', language: languageOf(lang), code: text }],
  heading: (token: Tokens.Heading) => [{ is: 'heading', level: token.depth, children: nodes(token.tokens) }],
  list: (token: Tokens.List) => [
    {
      is: 'list',
      start: token.ordered ? Number(token.start) : undefined,
      children: token.items.map((item) => ({
        is: 'item',
        checked: item.task ? item.checked === true : undefined,
        children: item.loose ? blocks(item.tokens) : nodes(item.tokens),
      })),
    },
  ],
  // The box of a task is the item's own.
  checkbox: () => [],
  link: (token: Tokens.Link) => linkNodes(token),
  // Nothing of the network is loaded: an address that the agent makes up would carry the conversation away.
  image: ({ href, text, raw }: Tokens.Image) => {
    const link = safeLink(href, '')
    const name = text === '' ? 'image' : text
    return link === undefined ? [raw] : [{ is: 'link', ...link, children: [`▣ ${name}`] }]
  },
  table: (token: Tokens.Table) => [
    plain('table', [
      plain(
        'row',
        token.header.map((cell) => cellOf(cell, true)),
      ),
      ...token.rows.map((row) =>
        plain(
          'row',
          row.map((cell) => cellOf(cell, false)),
        ),
      ),
    ]),
  ],
}

/** The elements of block tokens; text that stands alone becomes a paragraph. */
export function blocks(tokens: readonly Token[]): readonly Node[] {
  return tokens.flatMap((token) => {
    const read = nodes([token])
    const isLoose = token.type === 'text' || token.type === 'html'
    return isLoose && read.length > 0 ? [plain('paragraph', read)] : read
  })
}

function nodes(tokens: readonly Token[]): readonly Node[] {
  return tokens.flatMap((token) => {
    const read = Object.hasOwn(READINGS, token.type) ? READINGS[token.type] : undefined
    return read === undefined ? [token.raw] : read(token as never)
  })
}

/** The longest piece of a text; a paragraph that is longer has no markup, for the lexer gives it up. */
const MAX_TEXT_CHARS = 5_000

/**
 * A text of many pages without a paragraph, such as a log, as pieces with lines of their own: all of a paragraph is laid out again
 * with each word that is added to it. The pieces of a text that grows stay as they are, but for the last.
 */
function inPieces(children: readonly Node[]): readonly Node[] {
  const [text] = children
  if (children.length !== 1 || typeof text !== 'string' || text.length <= MAX_TEXT_CHARS) return children
  const pieces: Node[] = []
  for (let begin = 0; begin < text.length;) {
    const piece = firstPiece(text.slice(begin, begin + MAX_TEXT_CHARS))
    pieces.push(plain('piece', [piece]))
    begin += piece.length
  }
  return pieces
}

/** Up to the end of a line, or of a word, in its second half. */
function firstPiece(text: string): string {
  if (text.length < MAX_TEXT_CHARS) return text
  const end = [text.lastIndexOf('\n'), text.lastIndexOf(' ')].find((at) => at > MAX_TEXT_CHARS / 2)
  if (end !== undefined) return text.slice(0, end + 1)
  // The two halves of a character stay together.
  return /[\uD800-\uDBFF]$/u.test(text) ? text.slice(0, -1) : text
}

function plain(is: Plain, children: readonly Node[]): Element {
  return { is, children }
}

function cellOf({ tokens, align }: Tokens.TableCell, isHead: boolean): Element {
  return { is: 'cell', isHead, align, children: nodes(tokens) }
}

function linkNodes({ href, raw, text, tokens }: Tokens.Link): readonly Node[] {
  const isBare = !raw.startsWith('[') && !raw.startsWith('<')
  const { address, rest } = isBare ? splitBareAddress(raw) : { address: href, rest: '' }
  const children = isBare ? [address] : nodes(tokens)
  const link = safeLink(isBare && !/^[a-z]+:/iu.test(address) ? bareAddress(address) : address, isBare ? address : text)
  // Refused: what it would have led to is shown, as it was written.
  if (link === undefined) return [raw]
  const linked: Element = { is: 'link', ...link, children }
  return rest === '' ? [linked] : [linked, rest]
}

function bareAddress(text: string): string {
  return text.includes('@') ? `mailto:${text}` : `http://${text}`
}

/** The first word behind the fence. */
function languageOf(info: string): string {
  return /^[\w+#.-]{1,30}/u.exec(info)?.[0].toLowerCase() ?? ''
}
