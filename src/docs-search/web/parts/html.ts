/** Templates of safe HTML: every value that is put into a template is escaped as text, unless a template made it. */

const MADE = Symbol('made by a template')

/** Only `html` makes these, so that no text of a document is ever taken for one. */
export interface Html {
  readonly [MADE]: string
}

export type HtmlPart = Html | string | number | null | undefined | readonly HtmlPart[]

/** Attributes must stand in double quotes. */
export function html(strings: TemplateStringsArray, ...parts: readonly HtmlPart[]): Html {
  return { [MADE]: strings.map((string, i) => (i === 0 ? '' : htmlOf(parts[i - 1])) + string).join('') }
}

export function markupOf(made: Html): string {
  return made[MADE]
}

export function joinHtml(parts: readonly Html[], between: Html): Html {
  return { [MADE]: parts.map(markupOf).join(markupOf(between)) }
}

function htmlOf(part: HtmlPart): string {
  if (part === null || part === undefined) return ''
  if (typeof part === 'string' || typeof part === 'number') return escaped(String(part))
  return isList(part) ? part.map(htmlOf).join('') : part[MADE]
}

function isList(part: Html | readonly HtmlPart[]): part is readonly HtmlPart[] {
  return Array.isArray(part)
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function escaped(text: string): string {
  return (
    text
      .replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '')
      // Control characters that HTML cannot represent.
      .replace(/[^\P{Cc}\t\n\r]/gu, '\ufffd')
  )
}
