/**
 * Any text as a column. The SQLite library cuts a text at a NUL and cannot keep half a surrogate pair. Written as the inside of a JSON
 * string every text comes back as it was, and `a\0b` never finds the row of `a`.
 */
export function escapeText(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}

export function unescapeText(text: string): string {
  return text.includes('\\') ? (JSON.parse(`"${text}"`) as string) : text
}
