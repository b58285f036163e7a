/** The statements behind the journal: each method is one step inside a transaction, or one read. */
import { fail } from '../../../../errors/parley-error.ts'
import type { ListQuery, SessionHead, SessionSummary } from '../../../../ports/journal.ts'
import type { Database } from '../../../../sqlite/database.ts'
import { Statements, escapeText } from '../../../../sqlite/statements.ts'
import { type EntryRow, packEntries, unpackEntries } from '../../bundle.ts'
import { isListed } from '../../journal-base.ts'
import { checkJournal } from '../file/check.ts'
import { Forks } from './forks.ts'
import {
  ROW_BYTES,
  SESSION_COLUMNS,
  type SessionColumns,
  columnsOf,
  insertRows,
  readableColumns,
  rowOf,
  rowsAfter,
} from './rows.ts'
import type { AppendOrder, FindAnswer, FindOrder, PageAnswer, PageOrder } from '../worker/messages.ts'

/** How many entries of a deleted session one transaction removes: other writers wait for no longer than that takes. */
const SWEEP_ENTRIES = 2000

/** Entries that were appended one by one are packed after so many, if the session does not become idle before. */
const PACK_EVERY = 256
/** Fewer rows, or rows of more entries each, are not worth the writing. */
const PACK_LEAST_ROWS = 8
const PACK_LEAST_ENTRIES = 8

export class Store {
  readonly forks: Forks
  readonly #db: Database
  readonly #path: string
  readonly #statements: Statements
  /** As long as the file has fewer columns, an owner may add those that are missing. */
  #readable = ''

  constructor(db: Database, path: string) {
    this.#db = db
    this.#path = path
    this.#statements = new Statements(db, 'arrays')
    this.forks = new Forks(this.#statements, path)
  }

  /** After an error, before anything else is asked. */
  renew(): void {
    this.#statements.renew()
  }

  /** Throws JOURNAL_CONFLICT before anything is written. */
  append({ row, expected, last, rows, snapshot }: AppendOrder): void {
    const columns = columnsOf(row)
    const found = this.#statements.get('SELECT key, last_seq FROM sessions WHERE id = ?', columns[0]) as
      | readonly [key: number, lastSeq: number]
      | undefined
    const lastSeq = found?.[1] ?? 0
    if (lastSeq !== expected) fail('JOURNAL_CONFLICT', { session: row.id, expected, found: lastSeq })
    const session = found === undefined ? this.#insert(columns) : this.#update(found[0], columns)
    insertRows(this.#statements, session, rows)
    if (
      row.phase === 'idle' ||
      row.phase === 'closed' ||
      Math.floor(last / PACK_EVERY) > Math.floor(expected / PACK_EVERY)
    )
      this.#pack(session, last)
    if (snapshot !== undefined)
      this.#statements.run(
        'INSERT OR REPLACE INTO snapshots (session, seq, state) VALUES (?, ?, ?)',
        session,
        snapshot.seq,
        snapshot.state,
      )
  }

  /** Deletes the session's row, and the session with it. Its entries become orphans, which readers do not see. */
  deleteSession(id: string): boolean {
    const session = this.#key(id)
    if (session === undefined) return false
    this.#statements.run('DELETE FROM sessions WHERE key = ?', session)
    this.#statements.run('DELETE FROM snapshots WHERE session = ?', session)
    this.#statements.run('INSERT INTO orphans (session) VALUES (?)', session)
    return true
  }

  /** Removes some orphans in a transaction of its own; false when there are none but drafts of forks. */
  sweep(): boolean {
    const orphan = this.#orphan()
    if (orphan === undefined) return false
    const rest = this.#statements.number(
      'SELECT seq FROM entries WHERE session = ? ORDER BY seq LIMIT 1 OFFSET ?',
      orphan,
      SWEEP_ENTRIES,
    )
    this.#db.exec('BEGIN IMMEDIATE')
    if (rest !== undefined) this.#statements.run('DELETE FROM entries WHERE session = ? AND seq < ?', orphan, rest)
    else {
      this.#statements.run('DELETE FROM entries WHERE session = ?', orphan)
      this.#statements.run('DELETE FROM orphans WHERE session = ?', orphan)
    }
    this.#db.exec('COMMIT')
    return true
  }

  #orphan(): number | undefined {
    const orphans = this.#statements.prepare('SELECT session FROM orphans').iterate() as IterableIterator<
      readonly [number]
    >
    for (const [session] of orphans) if (!this.forks.isDraft(session)) return session
    return undefined
  }

  page({ id, from, entries, chars }: PageOrder): PageAnswer {
    const session = this.#key(id)
    const at: number[] = []
    const bodies: string[] = []
    if (session === undefined) return { at, bodies }
    let left = chars
    for (const row of rowsAfter(this.#statements, session, from)) {
      const next = from + bodies.length + 1
      if (row.seq - row.count >= next) this.#failHole(id, next)
      const { at: times, bodies: texts } = unpackEntries(row)
      for (let index = next - (row.seq - row.count) - 1; index < texts.length; index += 1) {
        const body = texts[index] ?? ''
        left -= body.length
        if (bodies.length > 0 && (left < 0 || bodies.length >= entries)) return { at, bodies }
        at.push(times[index] ?? row.at)
        bodies.push(body)
      }
    }
    return { at, bodies }
  }

  find({ text, ...order }: FindOrder): FindAnswer {
    const { from } = order
    const { at, bodies } = this.page(order)
    const places = bodies.flatMap((body, index) => (body.includes(text) ? [index] : []))
    return {
      seqs: places.map((index) => from + index + 1),
      at: places.map((index) => at[index] ?? 0),
      bodies: places.map((index) => bodies[index] ?? ''),
      until: bodies.length === 0 ? undefined : from + bodies.length,
    }
  }

  head(id: string): SessionHead | undefined {
    const found = this.#statements.get(`SELECT key, ${this.#columns} FROM sessions WHERE id = ?`, escapeText(id)) as
      | readonly [key: number, ...row: SessionColumns]
      | undefined
    if (found === undefined) return undefined
    const [session, ...columns] = found
    const row = rowOf(columns)
    const kept = this.#statements.get('SELECT seq, state FROM snapshots WHERE session = ?', session)
    if (kept === undefined) return { row }
    const [seq, state] = kept as readonly [seq: number, state: string]
    return { row, snapshot: { seq, state } }
  }

  list(query: ListQuery): readonly SessionSummary[] {
    const { cwd, phases, after, limit } = query
    const where: string[] = []
    const values: (string | number)[] = []
    const only = (condition: string, ...given: readonly (string | number)[]): void => {
      where.push(condition)
      values.push(...given)
    }
    if (cwd !== undefined) only('cwd = ?', escapeText(cwd))
    if (phases !== undefined) only(`phase IN (${phases.map(() => '?').join(', ')})`, ...phases)
    // Worded like the partial index, so that SQLite uses it.
    if (phases?.every((phase) => phase !== 'idle' && phase !== 'closed') === true)
      only("phase NOT IN ('idle', 'closed')")
    if (after !== undefined)
      only('updated_at <= ? AND (updated_at < ? OR id > ?)', after.updatedAt, after.updatedAt, escapeText(after.id))
    const condition = where.length === 0 ? '' : `WHERE ${where.join(' AND ')}`
    const sql = `SELECT ${this.#columns} FROM sessions ${condition} ORDER BY updated_at DESC, id`
    const rows = this.#statements.prepare(sql).iterate(...values) as IterableIterator<SessionColumns>
    return firstListed(rows, query, limit)
  }

  /** Looks at the whole file and changes nothing; a sentence for each thing that is wrong. */
  check(): readonly string[] {
    return checkJournal(this.#statements)
  }

  get #columns(): string {
    this.#readable = this.#readable === SESSION_COLUMNS ? SESSION_COLUMNS : readableColumns(this.#statements)
    return this.#readable
  }

  #key(id: string): number | undefined {
    return this.#statements.number('SELECT key FROM sessions WHERE id = ?', escapeText(id))
  }

  #insert(row: SessionColumns): number {
    const sql = `INSERT INTO sessions (${SESSION_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
    return this.#statements.run(sql, ...row)
  }

  /** Bundles what came one by one, in the transaction that is open anyway. */
  #pack(session: number, last: number): void {
    const packed = this.#statements.number('SELECT packed_seq FROM sessions WHERE key = ?', session) ?? 0
    const rows = [...rowsAfter(this.#statements, session, packed)]
    const cameOneByOne = rows.length * PACK_LEAST_ENTRIES > last - packed
    if (rows.length >= PACK_LEAST_ROWS && cameOneByOne) this.#repack(session, packed, rows)
    this.#statements.run('UPDATE sessions SET packed_seq = ? WHERE key = ?', last, session)
  }

  #repack(session: number, packed: number, rows: readonly EntryRow[]): void {
    const entries = rows.map(unpackEntries)
    const at = entries.flatMap((row) => row.at)
    const repacked = packEntries(packed + 1, { at, bodies: entries.flatMap((row) => row.bodies) }, ROW_BYTES)
    if (repacked.length * 2 > rows.length) return
    this.#statements.run('DELETE FROM entries WHERE session = ? AND seq > ?', session, packed)
    insertRows(this.#statements, session, repacked)
  }

  #update(key: number, [, ...row]: SessionColumns): number {
    this.#statements.run(
      `UPDATE sessions SET cwd = ?, additional_directories = ?, agent = ?, title = ?, phase = ?, last_seq = ?, created_at = ?, updated_at = ?, standing = ?
       WHERE key = ?`,
      ...row,
      key,
    )
    return key
  }

  #failHole(id: string, seq: number): never {
    return fail('JOURNAL_CORRUPT', { path: this.#path, reason: `entry ${seq} of session ${id} is missing` })
  }
}

/** Most filters are no columns with an index, so rows are read until there are enough. */
function firstListed(rows: Iterable<SessionColumns>, query: ListQuery, limit: number): readonly SessionSummary[] {
  const listed: SessionSummary[] = []
  if (limit <= 0) return listed
  for (const columns of rows) {
    const row = rowOf(columns)
    if (!isListed(row, query)) continue
    listed.push(row)
    if (listed.length >= limit) break
  }
  return listed
}
