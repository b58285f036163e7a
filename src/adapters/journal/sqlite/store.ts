/** The statements behind the journal: each method is one step inside a transaction, or one read. */
import { fail } from '../../../errors/parley-error.ts'
import { type EntryRow, bundle, unbundle } from './bundle.ts'
import { unescape } from './columns.ts'
import type {
  AppendOrder,
  HeadAnswer,
  ListOrder,
  PageAnswer,
  PageOrder,
  RowColumns,
  SnapshotColumns,
} from './messages.ts'
import type { Database } from './schema.ts'

type Statement = ReturnType<Database['prepare']>

/** How many entries of a deleted session one transaction clears away: others wait for no longer than that takes. */
const sweepSize = 2000

/** Entries after which those that came one by one are bundled, if the session does not come to rest before. */
const tidyEvery = 256
/** Fewer rows, or rows of more entries each, are not worth the writing. */
const tidyRows = 8
const tidyEntries = 8

/** How many rows one statement inserts. */
const rowsAtOnce = 25
const insertSql = Array.from(
  { length: rowsAtOnce + 1 },
  (_, rows) =>
    `INSERT INTO entries (session, seq, at, count, body) VALUES ${Array(rows).fill('(?, ?, ?, ?, ?)').join(', ')}`,
)

const rowColumns = 'id, cwd, additional_directories, agent, title, phase, last_seq, created_at, updated_at'

export class Store {
  readonly #db: Database
  readonly #path: string
  readonly #statements = new Map<string, Statement>()

  constructor(db: Database, path: string) {
    this.#db = db
    this.#path = path
  }

  /** After an error: a statement of this library that failed once fails again the next time, however sound that is. */
  renew(): void {
    this.#statements.clear()
  }

  /** Throws JOURNAL_CONFLICT before anything is written. */
  append({ row, expected, last, rows, snapshot }: AppendOrder): void {
    const found = this.#get('SELECT key, last_seq FROM sessions WHERE id = ?', row[0]) as
      | readonly [key: number, lastSeq: number]
      | undefined
    const lastSeq = found?.[1] ?? 0
    if (lastSeq !== expected) fail('JOURNAL_CONFLICT', { session: unescape(row[0]), expected, found: lastSeq })
    const session = found === undefined ? this.#insert(row) : this.#update(found[0], row)
    this.#insertRows(session, rows)
    if (isAtRest(row) || Math.floor(last / tidyEvery) > Math.floor(expected / tidyEvery)) this.#tidy(session, last)
    if (snapshot !== undefined)
      this.#run('INSERT OR REPLACE INTO snapshots (session, seq, state) VALUES (?, ?, ?)', session, ...snapshot)
  }

  /** The row goes and with it the session; its entries become orphans, which nobody sees. */
  forget(id: string): boolean {
    const session = this.#key(id)
    if (session === undefined) return false
    this.#run('DELETE FROM sessions WHERE key = ?', session)
    this.#run('DELETE FROM snapshots WHERE session = ?', session)
    this.#run('INSERT INTO orphans (session) VALUES (?)', session)
    return true
  }

  /** Clears away some orphans in a transaction of its own; false when there are none. */
  sweep(): boolean {
    const orphan = this.#number('SELECT session FROM orphans LIMIT 1')
    if (orphan === undefined) return false
    const rest = this.#number(
      'SELECT seq FROM entries WHERE session = ? ORDER BY seq LIMIT 1 OFFSET ?',
      orphan,
      sweepSize,
    )
    this.#db.exec('BEGIN IMMEDIATE')
    if (rest !== undefined) this.#run('DELETE FROM entries WHERE session = ? AND seq < ?', orphan, rest)
    else {
      this.#run('DELETE FROM entries WHERE session = ?', orphan)
      this.#run('DELETE FROM orphans WHERE session = ?', orphan)
    }
    this.#db.exec('COMMIT')
    return true
  }

  page({ id, from, entries, chars }: PageOrder): PageAnswer {
    const session = this.#key(id)
    const at: number[] = []
    const bodies: string[] = []
    if (session === undefined) return { at, bodies }
    let left = chars
    for (const row of this.#rowsAfter(session, from)) {
      const next = from + bodies.length + 1
      if (row.seq - row.count >= next) this.#failHole(id, next)
      const { at: times, bodies: texts } = unbundle(row)
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

  *#rowsAfter(session: number, from: number): Generator<EntryRow> {
    const rows = this.#prepare('SELECT seq, at, count, body FROM entries WHERE session = ? AND seq > ? ORDER BY seq')
    for (const [seq, at, count, body] of rows.iterate(session, from) as IterableIterator<EntryColumns>) {
      yield { seq, at, count, body }
    }
  }

  head(id: string): HeadAnswer | undefined {
    const found = this.#get(`SELECT key, ${rowColumns} FROM sessions WHERE id = ?`, id) as
      | readonly [key: number, ...row: RowColumns]
      | undefined
    if (found === undefined) return undefined
    const [session, ...row] = found
    const snapshot = this.#get('SELECT seq, state FROM snapshots WHERE session = ?', session)
    return { row, snapshot: snapshot as SnapshotColumns | undefined }
  }

  list({ cwd, phases, after, limit }: ListOrder): readonly RowColumns[] {
    const where: string[] = []
    const values: (string | number)[] = []
    const only = (condition: string, ...given: readonly (string | number)[]): void => {
      where.push(condition)
      values.push(...given)
    }
    if (cwd !== undefined) only('cwd = ?', cwd)
    if (phases !== undefined) only(`phase IN (${phases.map(() => '?').join(', ')})`, ...phases)
    // Said in the words of the partial index, which is then used.
    if (phases?.every((phase) => phase !== 'idle' && phase !== 'closed') === true)
      only("phase NOT IN ('idle', 'closed')")
    if (after !== undefined)
      only('updated_at <= ? AND (updated_at < ? OR id > ?)', after.updatedAt, after.updatedAt, after.id)
    const condition = where.length === 0 ? '' : `WHERE ${where.join(' AND ')}`
    const sql = `SELECT ${rowColumns} FROM sessions ${condition} ORDER BY updated_at DESC, id LIMIT ?`
    return this.#prepare(sql).all(...values, Math.max(0, limit)) as readonly RowColumns[]
  }

  #key(id: string): number | undefined {
    return this.#number('SELECT key FROM sessions WHERE id = ?', id)
  }

  #insert(row: RowColumns): number {
    const sql = `INSERT INTO sessions (${rowColumns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`
    return Number(this.#prepare(sql).run(...row).lastInsertRowid)
  }

  /** Several rows to a statement: SQLite takes a third less time than one by one. */
  #insertRows(session: number, rows: readonly EntryRow[]): void {
    for (let start = 0; start < rows.length; start += rowsAtOnce) {
      const some = rows.slice(start, start + rowsAtOnce)
      const values = some.flatMap(({ seq, at, count, body }) => [session, seq, at, count, body])
      this.#run(insertSql[some.length] ?? '', ...values)
    }
  }

  /** Bundles what came one by one, in the transaction that is open anyway. */
  #tidy(session: number, last: number): void {
    const tidied = this.#number('SELECT tidied_seq FROM sessions WHERE key = ?', session) ?? 0
    const rows = [...this.#rowsAfter(session, tidied)]
    const cameOneByOne = rows.length * tidyEntries > last - tidied
    if (rows.length >= tidyRows && cameOneByOne) this.#rebundle(session, tidied, rows)
    this.#run('UPDATE sessions SET tidied_seq = ? WHERE key = ?', last, session)
  }

  #rebundle(session: number, tidied: number, rows: readonly EntryRow[]): void {
    const entries = rows.map(unbundle)
    const at = entries.flatMap((row) => row.at)
    const tidy = bundle(tidied + 1, { at, bodies: entries.flatMap((row) => row.bodies) })
    if (tidy.length * 2 > rows.length) return
    this.#run('DELETE FROM entries WHERE session = ? AND seq > ?', session, tidied)
    this.#insertRows(session, tidy)
  }

  #update(key: number, [, ...row]: RowColumns): number {
    this.#run(
      `UPDATE sessions SET cwd = ?, additional_directories = ?, agent = ?, title = ?, phase = ?, last_seq = ?, created_at = ?, updated_at = ?
       WHERE key = ?`,
      ...row,
      key,
    )
    return key
  }

  #failHole(id: string, seq: number): never {
    return fail('JOURNAL_CORRUPT', { path: this.#path, reason: `entry ${seq} of session ${unescape(id)} is missing` })
  }

  #run(sql: string, ...values: readonly (string | number | null)[]): void {
    this.#prepare(sql).run(...values)
  }

  #number(sql: string, ...values: readonly (string | number)[]): number | undefined {
    return (this.#get(sql, ...values) as readonly [number] | undefined)?.[0]
  }

  #get(sql: string, ...values: readonly (string | number)[]): unknown {
    return this.#prepare(sql).get(...values)
  }

  #prepare(sql: string): Statement {
    const known = this.#statements.get(sql)
    if (known !== undefined) return known
    const statement = this.#db.prepare(sql)
    statement.setReturnArrays(true)
    this.#statements.set(sql, statement)
    return statement
  }
}

type EntryColumns = readonly [seq: number, at: number, count: number, body: string]

function isAtRest([, , , , , phase]: RowColumns): boolean {
  return phase === 'idle' || phase === 'closed'
}
