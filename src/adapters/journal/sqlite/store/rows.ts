/** How sessions and entries become rows of the tables, and back. */
import type { SessionPhase, SessionStanding, SessionSummary } from '../../../../ports/journal.ts'
import { type EntryRow, packEntries, unpackEntries } from '../../bundle.ts'
import { type Statements, escapeText, unescapeText } from '../../../../sqlite/statements.ts'

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

/** Several rows to a statement: SQLite takes a third less time than one by one. */
export function insertRows(statements: Statements, session: number, rows: readonly EntryRow[]): void {
  for (let start = 0; start < rows.length; start += ROWS_PER_INSERT) {
    const some = rows.slice(start, start + ROWS_PER_INSERT)
    const values = some.flatMap(({ seq, at, count, body }) => [session, seq, at, count, body])
    statements.run(INSERT_SQL[some.length] ?? '', ...values)
  }
}

/** A row of the table `sessions`. */
export type SessionColumns = readonly [
  id: string,
  cwd: string,
  additionalDirectories: string,
  agent: string,
  title: string | null,
  phase: string,
  lastSeq: number,
  createdAt: number,
  updatedAt: number,
  standing: string | null,
]

/** The columns of a session, in the order of `SessionColumns`. */
export const SESSION_COLUMNS =
  'id, cwd, additional_directories, agent, title, phase, last_seq, created_at, updated_at, standing'

/** The columns to read, also from a file of format 1 that no owner has opened since. */
export function readableColumns(statements: Statements): string {
  const count = statements.number("SELECT count(*) FROM pragma_table_info('sessions') WHERE name = 'standing'")
  return count === 0 ? SESSION_COLUMNS.replace('standing', 'NULL') : SESSION_COLUMNS
}

export function columnsOf(row: SessionSummary): SessionColumns {
  return [
    escapeText(row.id),
    escapeText(row.cwd),
    JSON.stringify(row.additionalDirectories),
    escapeText(row.agent),
    row.title === null ? null : escapeText(row.title),
    row.phase,
    row.lastSeq,
    row.createdAt,
    row.updatedAt,
    row.standing === undefined ? null : JSON.stringify(row.standing),
  ]
}

export function rowOf(columns: SessionColumns): SessionSummary {
  const [id, cwd, additionalDirectories, agent, title, phase, lastSeq, createdAt, updatedAt, standing] = columns
  return {
    id: unescapeText(id),
    cwd: unescapeText(cwd),
    additionalDirectories: JSON.parse(additionalDirectories) as readonly string[],
    agent: unescapeText(agent),
    title: title === null ? null : unescapeText(title),
    phase: phase as SessionPhase,
    lastSeq,
    createdAt,
    updatedAt,
    ...(standing !== null && { standing: JSON.parse(standing) as SessionStanding }),
  }
}
