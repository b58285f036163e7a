/** The statements behind the journal: each method is one step inside a transaction, or one read. */
import { fail } from '../../../../errors/parley-error.ts'
import type { ListQuery, SessionHead, SessionSummary } from '../../../../ports/journal.ts'
import type { Database } from '../../../../sqlite/database.ts'
import { Statements } from '../../../../sqlite/statements.ts'
import { type EntryRow, packEntries, unpackEntries } from '../../journal-base.ts'
import { checkJournal } from '../file/check.ts'
import { Forks } from './forks.ts'
import { ROW_BYTES, type SessionRecord, insertRows, rowsAfter, SessionRows } from './rows.ts'
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
  readonly #sessions: SessionRows
  /** Sessions that work and how far they are: their next append need not look that up. */
  readonly #working = new Map<string, { readonly stored: SessionRecord; readonly last: number }>()
  #version: number | undefined

  constructor(db: Database, path: string) {
    this.#db = db
    this.#path = path
    this.#statements = new Statements(db, 'arrays')
    this.#sessions = new SessionRows(this.#statements)
    this.forks = new Forks(this.#statements, this.#sessions, path)
  }

  /** After an error, before anything else is asked. */
  renew(): void {
    this.#statements.renew()
    this.#working.clear()
  }

  begin(): void {
    this.#statements.run('BEGIN IMMEDIATE')
    // Changes with each write of another connection, of which there should be none.
    const version = this.#statements.number('PRAGMA data_version')
    if (version !== this.#version) this.#working.clear()
    this.#version = version
  }

  commit(): void {
    this.#statements.run('COMMIT')
  }

  /** Throws JOURNAL_CONFLICT before anything is written. */
  append({ id, row, expected, last, lastAt, rows, snapshot }: AppendOrder): void {
    const known = this.#working.get(id)
    const stored = known?.stored ?? this.#sessions.find(id)
    const lastSeq = known?.last ?? (stored === undefined ? 0 : this.#sessions.lastSeq(stored))
    if (lastSeq !== expected) fail('JOURNAL_CONFLICT', { session: id, expected, found: lastSeq })
    const record = this.#write(id, stored, { row, lastAt })
    const session = record.key
    insertRows(this.#statements, session, rows)
    const isWorking = row === undefined || row.phase === 'working'
    if (isWorking) this.#working.set(id, { stored: record, last })
    else this.#working.delete(id)
    if (
      row?.phase === 'idle' ||
      row?.phase === 'closed' ||
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

  #write(
    id: string,
    stored: SessionRecord | undefined,
    { row, lastAt }: Pick<AppendOrder, 'row' | 'lastAt'>,
  ): SessionRecord {
    if (row === undefined) return stored ?? fail('JOURNAL_CONFLICT', { session: id, expected: 0, found: 0 })
    return stored === undefined ? this.#sessions.insert(row) : this.#sessions.update(stored, row, lastAt)
  }

  /** Deletes the session's row, and the session with it. Its entries become orphans, which readers do not see. */
  deleteSession(id: string): boolean {
    const session = this.#sessions.find(id)?.key
    this.#working.delete(id)
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
    const session = this.#sessions.find(id)?.key
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
    const found = this.#sessions.find(id)
    if (found === undefined) return undefined
    const row = this.#sessions.summary(found)
    const kept = this.#statements.get('SELECT seq, state FROM snapshots WHERE session = ?', found.key)
    if (kept === undefined) return { row }
    const [seq, state] = kept as readonly [seq: number, state: string]
    return { row, snapshot: { seq, state } }
  }

  list(query: ListQuery): readonly SessionSummary[] {
    return this.#sessions.list(query)
  }

  /** Looks at the whole file and changes nothing; a sentence for each thing that is wrong. */
  check(): readonly string[] {
    return checkJournal(this.#statements)
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

  #failHole(id: string, seq: number): never {
    return fail('JOURNAL_CORRUPT', { path: this.#path, reason: `entry ${seq} of session ${id} is missing` })
  }
}
