/** The rows of the table `entries`, read and written. */
import type { EntryRow } from './entry-packing.ts'
import type { Statements } from './statements.ts'

/** How many rows one statement inserts. */
const rowsAtOnce = 25
const insertSql = Array.from(
  { length: rowsAtOnce + 1 },
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

/** Several rows to a statement: SQLite takes a third less time than one by one. */
export function insertRows(statements: Statements, session: number, rows: readonly EntryRow[]): void {
  for (let start = 0; start < rows.length; start += rowsAtOnce) {
    const some = rows.slice(start, start + rowsAtOnce)
    const values = some.flatMap(({ seq, at, count, body }) => [session, seq, at, count, body])
    statements.run(insertSql[some.length] ?? '', ...values)
  }
}
