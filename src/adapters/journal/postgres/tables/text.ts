/** Any text as a column. PostgreSQL keeps no NUL, and half of a surrogate pair would become another character on its way. */

/** Before a text that is written as a JSON string. */
const MARK = '\u0001'
/** With the flag `u` it finds only a half of a pair whose other half is missing. */
const HALF_OF_A_PAIR = /\p{Surrogate}/u

export function escapeText(text: string): string {
  const isKept = !text.startsWith(MARK) && !text.includes('\0') && !HALF_OF_A_PAIR.test(text)
  return isKept ? text : MARK + JSON.stringify(text)
}

export function unescapeText(text: string): string {
  return text.startsWith(MARK) ? (JSON.parse(text.slice(1)) as string) : text
}
