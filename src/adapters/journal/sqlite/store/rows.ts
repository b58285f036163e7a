/**
 * How sessions and entries become rows of the tables, and back. Several entries share one row: most are small parts of one message and
 * differ only in a word, so what all their bodies begin and end with is written once. That takes a fraction of the space and time.
 */
import type { SessionPhase, SessionStanding, SessionSummary } from '../../../../ports/journal.ts'
import { type Statements, escapeText, unescapeText } from '../../../../sqlite/statements.ts'

/** A row of the table `entries`: the entries from `seq - count + 1` to `seq`. */
export interface EntryRow {
  readonly seq: number
  /** When its first entry was stored. */
  readonly at: number
  readonly count: number
  /** The body itself if `count` is 1; else lines: the beginning, the end, the times, then the middle of each body. */
  readonly body: string
}

export interface Entries {
  readonly at: readonly number[]
  readonly bodies: readonly string[]
}

/** Bytes of a row that SQLite keeps in its leaf page; a longer row takes another page. */
const MOST_BYTES = 900
/** Bytes that each entry takes besides its middle: a newline, and the step of a time that is its own. */
const SEPARATOR = 1
const STEP = 5
/** Bodies that have less than this in common are not of one kind. */
const LEAST_SHARED = 8

/** Rows for `entries`, the first of which is number `first`. */
export function packEntries(first: number, { at, bodies }: Entries): readonly EntryRow[] {
  const rows: EntryRow[] = []
  for (let start = 0; start < bodies.length;) {
    const { end, shared } = groupFrom({ at, bodies }, start)
    const group = bodies.slice(start, end)
    const times = at.slice(start, end)
    const body = group.length === 1 ? (group[0] ?? '') : written(group, shared, times)
    rows.push({ seq: first + end - 1, at: times[0] ?? 0, count: group.length, body })
    start = end
  }
  return rows
}

/** The entries of a row again. */
export function unpackEntries({ at, count, body }: EntryRow): Entries {
  if (count === 1) return { at: [at], bodies: [body] }
  const [beginning = '', ending = '', steps = '', ...middles] = body.split('\n')
  const bodies = middles.map((middle) => beginning + middle + ending)
  return { at: timesFrom(at, steps, count), bodies }
}

/** The row without what does not come after `from` and up to `until`; more than one where fewer entries have less in common. */
export function cutRow(row: EntryRow, from: number, until: number): readonly EntryRow[] {
  const before = row.seq - row.count
  if (before >= from && row.seq <= until) return [row]
  const { at, bodies } = unpackEntries(row)
  const start = Math.max(0, from - before)
  const end = Math.min(row.count, until - before)
  return packEntries(before + start + 1, { at: at.slice(start, end), bodies: bodies.slice(start, end) })
}

/** How far bodies belong together, and how much they all begin with. */
function groupFrom({ at, bodies }: Entries, start: number): { readonly end: number; readonly shared: number } {
  const head = bodies[start] ?? ''
  let shared = head.length
  let bytes = Buffer.byteLength(head)
  let end = start + 1
  if (head.includes('\n')) return { end, shared }
  for (; end < bodies.length; end += 1) {
    const body = bodies[end] ?? ''
    const common = sharedBeginning(head, body, shared)
    bytes += Buffer.byteLength(body) + (at[end] === at[end - 1] ? SEPARATOR : SEPARATOR + STEP)
    const repeated = (end - start) * common
    if (common < LEAST_SHARED || bytes - repeated > MOST_BYTES || body.includes('\n')) break
    shared = common
  }
  return { end, shared }
}

/** Up to and including a quotation mark, so that a text of the body is never cut in two. */
function sharedBeginning(left: string, right: string, limit: number): number {
  const most = Math.min(left.length, right.length, limit)
  let length = 0
  while (length < most && left.charCodeAt(length) === right.charCodeAt(length)) length += 1
  return left.lastIndexOf('"', length - 1) + 1
}

function written(group: readonly string[], shared: number, times: readonly number[]): string {
  const beginning = (group[0] ?? '').slice(0, shared)
  const rests = group.map((body) => body.slice(shared))
  const ending = sharedEnding(rests)
  const middles = rests.map((rest) => rest.slice(0, rest.length - ending.length))
  return [beginning, ending, stepsOf(times), ...middles].join('\n')
}

/** From a quotation mark on, for the same reason. */
function sharedEnding(rests: readonly string[]): string {
  const head = rests[0] ?? ''
  let length = head.length
  for (const rest of rests) {
    let common = 0
    while (common < length && rest.charCodeAt(rest.length - 1 - common) === head.charCodeAt(head.length - 1 - common))
      common += 1
    length = common
  }
  const quote = head.indexOf('"', head.length - length)
  return quote === -1 ? '' : head.slice(quote)
}

/** Empty when all were stored at once, as most are. */
function stepsOf(times: readonly number[]): string {
  const steps = times.map((time, index) => time - (times[index - 1] ?? times[0] ?? 0))
  return steps.every((step) => step === 0) ? '' : steps.join(',')
}

function timesFrom(at: number, steps: string, count: number): readonly number[] {
  if (steps === '') return Array.from({ length: count }, () => at)
  let time = at
  return steps.split(',').map((step) => (time += Number(step)))
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
