/**
 * The two tables: of sessions, and of their entries. Writing a session's row moves it in three indexes, and while a turn runs almost
 * nothing of it changes: then it is written at most once a second. How far such a session is, and since when, stands in its last
 * entry, so every reader sees it exactly.
 */
import type { ListKey, ListQuery, SessionPhase, SessionStanding, SessionSummary } from '../../../../ports/journal.ts'
import { type Statements, escapeText, unescapeText } from '../../../../sqlite/statements.ts'
import { type EntryRow, isListed, packEntries, unpackEntries } from '../../journal-base.ts'

/** How old a row may become while its session works. Milliseconds. */
const ROW_PERIOD_MS = 1_000

/** A row as it is stored: of a session that works, perhaps older than its last entry. */
export interface SessionRecord {
  readonly key: number
  readonly columns: SessionColumns
}

export class SessionRows {
  readonly #statements: Statements
  /** As long as the file has fewer columns, an owner may add those that are missing. */
  #readable = ''

  constructor(statements: Statements) {
    this.#statements = statements
  }

  find(id: string): SessionRecord | undefined {
    const found = this.#statements.get(`SELECT key, ${this.#columns} FROM sessions WHERE id = ?`, escapeText(id))
    return found === undefined ? undefined : storedOf(found as KeyAndColumns)
  }

  /** The number of the session's last entry. */
  lastSeq({ key, columns }: SessionRecord): number {
    return columns[PHASE] === 'working' ? lastSeqOf(this.#statements, key) : columns[LAST_SEQ]
  }

  /** The session as it is now. */
  summary(stored: SessionRecord): SessionSummary {
    const row = rowOf(stored.columns)
    const lastSeq = this.lastSeq(stored)
    if (lastSeq === row.lastSeq) return row
    return { ...row, lastSeq, updatedAt: lastTimeOf(this.#statements, stored.key) ?? row.updatedAt }
  }

  /** Newest first. */
  list(query: ListQuery): readonly SessionSummary[] {
    const listed: SessionSummary[] = []
    if (query.limit <= 0) return listed
    // Most filters are no columns with an index, so rows are read until there are enough.
    for (const row of newestOf(this.#resting(query), this.#working(query))) {
      if (!isListed(row, query)) continue
      listed.push(row)
      if (listed.length >= query.limit) break
    }
    return listed
  }

  insert(row: SessionSummary, key: number | null = null, packed = 0): SessionRecord {
    const sql = `INSERT INTO sessions (key, packed_seq, ${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
    const columns = columnsOf(row)
    return { key: this.#statements.run(sql, key, packed, ...columns), columns }
  }

  /** `lastAt`: when the last of the entries that come with it was stored. Answers what stands there now. */
  update(stored: SessionRecord, row: SessionSummary, lastAt: number | undefined): SessionRecord {
    if (mayWait(rowOf(stored.columns), row, lastAt)) return stored
    const columns = columnsOf(row)
    const [, ...rest] = columns
    this.#statements.run(
      `UPDATE sessions SET cwd = ?, additional_directories = ?, agent = ?, title = ?, phase = ?, last_seq = ?, created_at = ?, updated_at = ?, standing = ?
       WHERE key = ?`,
      ...rest,
      stored.key,
    )
    return { key: stored.key, columns }
  }

  /** Sessions whose rows are exact, in the order of their index. */
  *#resting({ cwd, phases, after }: ListQuery): Generator<SessionSummary> {
    const wanted = phases?.filter((phase) => phase !== 'working')
    if (wanted?.length === 0) return
    const where: string[] = []
    const values: (string | number)[] = []
    const only = (condition: string, ...given: readonly (string | number)[]): void => {
      where.push(condition)
      values.push(...given)
    }
    if (cwd !== undefined) only('cwd = ?', escapeText(cwd))
    if (wanted === undefined) only("phase <> 'working'")
    else only(`phase IN (${wanted.map(() => '?').join(', ')})`, ...wanted)
    // Worded like the partial index, so that SQLite uses it.
    if (wanted?.every((phase) => phase !== 'idle' && phase !== 'closed') === true)
      only("phase NOT IN ('idle', 'closed')")
    if (after !== undefined)
      only('updated_at <= ? AND (updated_at < ? OR id > ?)', after.updatedAt, after.updatedAt, escapeText(after.id))
    const sql = `SELECT ${this.#columns} FROM sessions WHERE ${where.join(' AND ')} ORDER BY updated_at DESC, id`
    const rows = this.#statements.prepare(sql).iterate(...values) as IterableIterator<SessionColumns>
    for (const columns of rows) yield rowOf(columns)
  }

  /** Sessions in a turn: few, and each is looked up. */
  #working({ phases, after }: ListQuery): readonly SessionSummary[] {
    if (phases?.includes('working') === false) return []
    const sql = `SELECT key, ${this.#columns} FROM sessions WHERE phase = 'working' AND phase NOT IN ('idle', 'closed')`
    const found = this.#statements.all(sql) as readonly KeyAndColumns[]
    return found
      .map((columns) => this.summary(storedOf(columns)))
      .filter((row) => after === undefined || newestFirst(after, row) < 0)
      .toSorted(newestFirst)
  }

  get #columns(): string {
    this.#readable = this.#readable === COLUMNS ? COLUMNS : readableColumns(this.#statements)
    return this.#readable
  }
}

/** Two lists that are in order, as one. */
function* newestOf(one: Iterable<SessionSummary>, others: readonly SessionSummary[]): Generator<SessionSummary> {
  let next = 0
  for (const row of one) {
    for (let other = others[next]; other !== undefined && newestFirst(other, row) < 0; other = others[next]) {
      yield other
      next += 1
    }
    yield row
  }
  yield* others.slice(next)
}

function newestFirst(one: ListKey, other: ListKey): number {
  if (one.updatedAt !== other.updatedAt) return other.updatedAt - one.updatedAt
  return Buffer.compare(Buffer.from(escapeText(one.id)), Buffer.from(escapeText(other.id)))
}

/** Whether the row that is stored still says everything that the last entry does not, which was stored at `lastAt`. */
export function mayWait(stored: SessionSummary, next: SessionSummary, lastAt: number | undefined): boolean {
  const age = next.updatedAt - stored.updatedAt
  if (next.phase !== 'working' || next.updatedAt !== lastAt || age < 0 || age >= ROW_PERIOD_MS) return false
  return SETTLED.every((field) => stored[field] === next[field]) && isSame(stored, next)
}

const SETTLED = ['id', 'cwd', 'agent', 'title', 'phase', 'createdAt'] as const

function isSame(one: SessionSummary, other: SessionSummary): boolean {
  return sameJson(one.additionalDirectories, other.additionalDirectories) && sameJson(one.standing, other.standing)
}

function sameJson(one: unknown, other: unknown): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other)
}

/** A row of the table `sessions`. */
type SessionColumns = readonly [
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

const [PHASE, LAST_SEQ] = [5, 6] as const

type KeyAndColumns = readonly [key: number, ...columns: SessionColumns]

function storedOf([key, ...columns]: KeyAndColumns): SessionRecord {
  return { key, columns }
}

/** The columns of a session, in the order of `SessionColumns`. */
const COLUMNS = 'id, cwd, additional_directories, agent, title, phase, last_seq, created_at, updated_at, standing'

/** The columns to read, also from a file of format 1 that no owner has opened since. */
function readableColumns(statements: Statements): string {
  const count = statements.number("SELECT count(*) FROM pragma_table_info('sessions') WHERE name = 'standing'")
  return count === 0 ? COLUMNS.replace('standing', 'NULL') : COLUMNS
}

function columnsOf(row: SessionSummary): SessionColumns {
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

function rowOf(columns: SessionColumns): SessionSummary {
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

// The table of entries.

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
function lastSeqOf(statements: Statements, session: number): number {
  return statements.number('SELECT max(seq) FROM entries WHERE session = ?', session) ?? 0
}

/** When a session's last entry was stored. */
function lastTimeOf(statements: Statements, session: number): number | undefined {
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
