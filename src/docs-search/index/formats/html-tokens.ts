/**
 * Reads HTML of any author, in time that grows with its length alone. The tokenizer of htmlparser2 does that; its parser does
 * not: each unknown end tag makes it search all elements that are open.
 */
import { Tokenizer } from 'htmlparser2'

export interface HtmlTag {
  /** In lower case. */
  readonly name: string
  /** By names in lower case, with character references decoded. */
  readonly attributes: ReadonlyMap<string, string>
  /** It ends with `/>`. */
  readonly isSelfClosing: boolean
}

export interface HtmlHandler {
  /** A piece of text with character references decoded; also what is in `script`, `style` and `title`. */
  text(text: string): void
  open(tag: HtmlTag): void
  /** The name is in lower case. */
  close(name: string): void
  /** Markup as it stands in the source, after the tag that it belongs to was reported. */
  markup?(source: string): void
}

export function readHtml(source: string, handler: HtmlHandler): void {
  let reported = 0
  let tagName = ''
  let attributes = new Map<string, string>()
  let attribute = { name: '', value: '' }
  const markupTo = (end: number): void => {
    if (end > reported) handler.markup?.(source.slice(reported, end))
    reported = Math.max(reported, end)
  }
  const open = (isSelfClosing: boolean) => handler.open({ name: tagName, attributes, isSelfClosing })
  const tokenizer = new Tokenizer(
    { decodeEntities: true },
    {
      ontext(start, end) {
        markupTo(start)
        handler.text(source.slice(start, end))
        reported = end
      },
      ontextentity(codePoint, end) {
        markupTo(source.lastIndexOf('&', end - 1))
        handler.text(String.fromCodePoint(codePoint))
        reported = end
      },
      onopentagname(start, end) {
        markupTo(start - 1)
        tagName = source.slice(start, end).toLowerCase()
        attributes = new Map()
      },
      onattribname(start, end) {
        attribute = { name: source.slice(start, end).toLowerCase(), value: '' }
      },
      onattribdata(start, end) {
        attribute.value += source.slice(start, end)
      },
      onattribentity(codePoint) {
        attribute.value += String.fromCodePoint(codePoint)
      },
      onattribend() {
        if (!attributes.has(attribute.name)) attributes.set(attribute.name, attribute.value)
      },
      onopentagend: () => open(false),
      onselfclosingtag: () => open(true),
      onclosetag(start, end) {
        markupTo(source.lastIndexOf('<', start))
        handler.close(source.slice(start, end).toLowerCase())
      },
      oncdata: () => undefined,
      oncomment: () => undefined,
      ondeclaration: () => undefined,
      onprocessinginstruction: () => undefined,
      onend: () => undefined,
    },
  )
  tokenizer.write(source)
  tokenizer.end()
  markupTo(source.length)
}
