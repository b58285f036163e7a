/** How entries become rows of their table, and back. */
import { type EntryRow, packEntries, unpackEntries } from '../../bundle.ts'
import type { Statements } from '../../../../sqlite/statements.ts'

/** Bytes of a row that SQLite keeps in its leaf page; a longer row takes another page. */
export const ROW_BYTES = 900

/** The row without what does not come after `from` and up to `until`; more than one where fewer entries have less in common. */
export function cutRow(row: EntryRow, from: number, until: number): readonly EntryRow[] {
  const before = row.seq - row.count
  if (before >= from && row.seq <= until) return [row]
  const { at, bodies } = unpackEntries(row)
  const start = Math.max(0, from - before)
  const end = Math.min(row.count, until - before)
  return packEntries(before + start + 1, { at: at.slice(start, end), bodies: bodies.slice(start, end) }, ROW_BYTES)
}

const ROWS_PER_INSERT = 25
const INSERT_SQL = Array.from(
  { length: ROWS_PER_INSERT + 1 },
  (_, rows) =>
    `INSERT INTO entries (session, seq, at, count, body) VALUES ${Array(rows).fill('(?, ?, ?, ?, ?)').join(', ')}`,
)

type EntryColumns = readonly [seq: number, at: number, count: number, body: string]

/** The first of them may begin before `from`. */
export function* rowsAfter(statements: Statements, session: number, from: number): Generator<EntryRow> {
  const rows = statements.prepare('SELECT seq, at, count, body FROM entries WHERE session = ? AND seq > ? ORDER BY seq')
  for (const [seq, at, count, body] of rows.iterate(session, from) as IterableIterator<EntryColumns>) {
    yield { seq, at, count, body }
  }
}

/** The number of a session's last entry; 0 when it has none. */
export function lastSeqOf(statements: Statements, session: number): number {
  return statements.number('SELECT max(seq) FROM entries WHERE session = ?', session) ?? 0
}

/** When a session's last entry was stored. */
export function lastTimeOf(statements: Statements, session: number): number | undefined {
  const last = 'SELECT seq, at, count, body FROM entries WHERE session = ? ORDER BY seq DESC LIMIT 1'
  const found = statements.get(last, session) as EntryColumns | undefined
  if (found === undefined) return undefined
  const [seq, at, count, body] = found
  return unpackEntries({ seq, at, count, body }).at.at(-1)
}

/** Several rows to a statement: SQLite takes a third less time than one by one. */
export function insertRows(statements: Statements, session: number, rows: readonly EntryRow[]): void {
  for (let start = 0; start < rows.length; start += ROWS_PER_INSERT) {
    const some = rows.slice(start, start + ROWS_PER_INSERT)
    const values = some.flatMap(({ seq, at, count, body }) => [session, seq, at, count, body])
    statements.run(INSERT_SQL[some.length] ?? '', ...values)
  }
}
