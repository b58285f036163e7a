/** Any text as a column of SQLite, which ends a text at a NUL and has no place for half a character. */

/** As the inside of a JSON string. */
export function escape(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}

export function unescape(text: string): string {
  return text.includes('\\') ? (JSON.parse(`"${text}"`) as string) : text
}
