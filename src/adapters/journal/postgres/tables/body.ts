/** How the entries of one append become the text of one row, and back. */
import type { StoredEntry } from '../../../../ports/journal.ts'
import { type EntryRow, packEntries, unpackEntries } from '../../journal-base.ts'
import { escapeText, unescapeText } from './text.ts'

/** Lines of a bundle besides its entries: how they begin, how they end, their times. */
const SHARED_LINES = 3

/** At least one entry; the first line of each bundle is its count and its time, and `json` where its only body has more than one line. */
export function packBody(entries: readonly StoredEntry[]): string {
  const columns = { at: entries.map(({ at }) => at), bodies: entries.map(({ body }) => body) }
  const rows = packEntries(entries[0]?.seq ?? 1, columns, Number.POSITIVE_INFINITY)
  return escapeText(rows.map(linesOf).join('\n'))
}

function linesOf({ at, count, body }: EntryRow): string {
  const isLong = count === 1 && body.includes('\n')
  return isLong ? `1 ${at} json\n${JSON.stringify(body)}` : `${count} ${at}\n${body}`
}

/** The entries of a row whose first one has the number `first`. */
export function unpackBody(first: number, text: string): readonly StoredEntry[] {
  const lines = unescapeText(text).split('\n')
  const entries: StoredEntry[] = []
  for (let line = 0; line < lines.length;) {
    const [count = 1, at = 0] = (lines[line] ?? '').split(' ', 2).map(Number)
    const isLong = lines[line]?.endsWith(' json') === true
    const end = line + 1 + (count === 1 ? 1 : SHARED_LINES + count)
    const body = lines.slice(line + 1, end).join('\n')
    const bundle = { seq: 0, at, count, body: isLong ? (JSON.parse(body) as string) : body }
    const { at: times, bodies } = unpackEntries(bundle)
    for (const [index, one] of bodies.entries())
      entries.push({ seq: first + entries.length, at: times[index] ?? at, body: one })
    line = end
  }
  return entries
}
