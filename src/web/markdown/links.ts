/** Where a link of an agent may lead, and what a reader must see of it before following. */

export interface SafeLink {
  readonly href: string
  /** The true host, when the text does not say it; in ASCII, so that letters of another alphabet cannot imitate it. */
  readonly host: string | undefined
}

const PROTOCOLS = new Set(['http:', 'https:', 'mailto:'])
const MAX_HREF_CHARS = 4_000

/** Undefined for what is shown as text: scripts, data, files, relative addresses. */
export function safeLink(href: string, text: string): SafeLink | undefined {
  if (href.length > MAX_HREF_CHARS || !/^\s*(?:https?:\/\/|mailto:)/iu.test(href) || !URL.canParse(href))
    return undefined
  const url = new URL(href)
  if (!PROTOCOLS.has(url.protocol)) return undefined
  const target = url.protocol === 'mailto:' ? decoded(url.pathname) : url.host
  return { href: url.href, host: says(text, target) && url.username === '' ? undefined : target }
}

/** The text is the address itself, or the host as it is. */
function says(text: string, target: string): boolean {
  const bare = text
    .trim()
    .toLowerCase()
    .replace(/^(?:https?:\/\/|mailto:)/u, '')
  const [host] = bare.split(/[/?#]/u, 1)
  return host === target.toLowerCase()
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    // It is shown as it is written.
    return text
  }
}

/** CJK letters and punctuation, which end an address that stands in a Chinese or Japanese sentence without a space. */
const CJK = /[\u2e80-\u303f\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef]/u

/** A bare address, and what follows it in the same word of a text without spaces. */
export function splitBareAddress(text: string): { readonly address: string; readonly rest: string } {
  const at = text.search(CJK)
  return at === -1 ? { address: text, rest: '' } : { address: text.slice(0, at), rest: text.slice(at) }
}
