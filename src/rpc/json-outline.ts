/** Estimates the size of a JSON text without parsing it: to parse millions of small values would keep every client waiting. */

export interface JsonOutline {
  /** The number of values of all kinds: never too low, and at most twice too high. */
  readonly values: number
  /** The depth of nesting. */
  readonly levels: number
  /** The members of the outermost object by which JSON-RPC distinguishes messages, where they are strings or numbers. */
  readonly id: string | number | undefined
  readonly method: string | undefined
}

/** Characters. Shorter texts are parsed without an estimate. */
export const SHORT_JSON = 64 * 1024

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
/** The bracket of a list; the brace of an object is 0x20 above it. */
const OPENING = 0x5b
const CLOSING = 0x5d

/** One pass over the text, which skips strings. A text that is no JSON has an outline as well. */
export function jsonOutlineOf(text: string): JsonOutline {
  const named = new Map<string, string | number | undefined>()
  let values = 1
  let level = 0
  let levels = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === COMMA) values += 1
    if (code === QUOTE) {
      const end = endOfString(text, at)
      const name = level === 1 && end - at < 8 ? text.slice(at + 1, end) : ''
      if ((name === 'id' || name === 'method') && isName(text, end + 1)) named.set(name, memberAt(text, end + 1))
      at = end
    }
    // Blanks, digits and points have lower codes; most of the rest of a text is in strings.
    if (code < OPENING) continue
    if ((code | 0x20) === (OPENING | 0x20)) {
      values += 1
      level += 1
      levels = Math.max(levels, level)
    } else if ((code | 0x20) === (CLOSING | 0x20)) level -= 1
  }
  const method = named.get('method')
  return { values, levels, id: named.get('id'), method: typeof method === 'string' ? method : undefined }
}

/** The position of the quote that ends the string, or of the last character. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let first = end
    while (text.charCodeAt(first - 1) === BACKSLASH) first -= 1
    if ((end - first) % 2 === 0) return end
  }
  return text.length - 1
}

const COLON = /\s*:/uy

/** Whether the string that ends before `at` names a member: the value of one may be the same word. */
function isName(text: string, at: number): boolean {
  COLON.lastIndex = at
  return COLON.test(text)
}

const MEMBER = /\s*:\s*(?:("(?:[^"\\]|\\.){0,200}")|(-?\d{1,16}))\s*[,}]/uy

/** The value of the member whose name ends before `at`, where it is a short string or an integer. */
function memberAt(text: string, at: number): string | number | undefined {
  MEMBER.lastIndex = at
  const [, quoted, digits] = MEMBER.exec(text) ?? []
  if (digits !== undefined) return Number(digits)
  if (quoted === undefined) return undefined
  try {
    return JSON.parse(quoted) as string
  } catch {
    // An invalid escape: the text as a whole is no JSON.
    return undefined
  }
}
