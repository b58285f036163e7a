/**
 * Copies a session, or imports one from a file, in pieces between the appends of other sessions. Until it is complete it
 * is a draft among the orphans. Readers do not see a draft, and after a crash the next owner deletes it.
 */
import { fail } from '../../../../errors/parley-error.ts'
import type { Statements } from '../../../../sqlite/statements.ts'
import type { EntryRow } from '../../journal-base.ts'
import { cutRow, insertRows, rowsAfter, type SessionRows } from './rows.ts'
import type { CopyOrder, FillOrder, FinishOrder, ForkOrder, ForkPlace } from '../worker/messages.ts'

/** How much one transaction copies: others wait for no longer than that takes. */
const COPY_ROWS = 1000
export const COPY_CHARS = 512 * 1024

const NEXT_KEY = "UPDATE sqlite_sequence SET seq = seq + 1 WHERE name = 'sessions' RETURNING seq"
/** In a journal that has never had a session. */
const FIRST_KEY = "INSERT INTO sqlite_sequence (name, seq) VALUES ('sessions', 1) RETURNING seq"

export class Forks {
  readonly #statements: Statements
  readonly #sessions: SessionRows
  readonly #path: string
  readonly #drafts = new Set<number>()

  constructor(statements: Statements, sessions: SessionRows, path: string) {
    this.#statements = statements
    this.#sessions = sessions
    this.#path = path
  }

  /** Whether a fork or an import still writes to this draft. */
  isDraft(session: number): boolean {
    return this.#drafts.has(session)
  }

  /** Throws JOURNAL_CONFLICT before anything is written. */
  begin({ source: id, at }: ForkOrder): ForkPlace {
    const source = this.#sessions.find(id)
    const found = source === undefined ? 0 : this.#sessions.lastSeq(source)
    if (found < at) fail('JOURNAL_CONFLICT', { session: id, expected: at, found })
    return { source: source?.key ?? 0, draft: this.draft() }
  }

  /** Creates an empty draft, which readers do not see. */
  draft(): number {
    // A key that no session had or will have.
    const draft = this.#statements.number(NEXT_KEY) ?? this.#statements.number(FIRST_KEY)
    if (draft === undefined) return this.#failCorrupt('it has lost count of its sessions')
    this.#statements.run('INSERT INTO orphans (session) VALUES (?)', draft)
    this.#drafts.add(draft)
    return draft
  }

  fill({ draft, rows }: FillOrder): void {
    insertRows(this.#statements, draft, rows)
  }

  /** The number of the last entry that is copied by now. Throws JOURNAL_CONFLICT when the source is gone. */
  copy(order: CopyOrder): number {
    const { id, source, draft, from, until } = order
    if (this.#sessions.find(id)?.key !== source) fail('JOURNAL_CONFLICT', { session: id, expected: until, found: 0 })
    const { rows, last } = this.#piece(order)
    if (last === from) this.#failHole(id, from + 1)
    insertRows(this.#statements, draft, rows)
    return last
  }

  /** The draft appears as a session, whole. Throws JOURNAL_CONFLICT before anything is written. */
  finish({ draft, append: { row, last, rows, snapshot } }: FinishOrder): void {
    const existing = this.#sessions.find(row.id)
    if (existing !== undefined)
      fail('JOURNAL_CONFLICT', { session: row.id, expected: 0, found: this.#sessions.lastSeq(existing) })
    insertRows(this.#statements, draft, rows)
    this.#sessions.insert(row, draft, last)
    if (snapshot !== undefined)
      this.#statements.run(
        'INSERT INTO snapshots (session, seq, state) VALUES (?, ?, ?)',
        draft,
        snapshot.seq,
        snapshot.state,
      )
    this.#statements.run('DELETE FROM orphans WHERE session = ?', draft)
  }

  /** Nothing writes to this draft any more. If it has become a session it stays; otherwise it is deleted. */
  abandon(draft: number): void {
    this.#drafts.delete(draft)
  }

  #piece({ id, source, from, until }: CopyOrder): { readonly rows: readonly EntryRow[]; readonly last: number } {
    const rows: EntryRow[] = []
    let last = from
    let chars = 0
    for (const row of rowsAfter(this.#statements, source, from)) {
      if (row.seq - row.count > last) this.#failHole(id, last + 1)
      rows.push(...cutRow(row, last, until))
      last = Math.min(row.seq, until)
      chars += row.body.length
      if (last === until || rows.length >= COPY_ROWS || chars >= COPY_CHARS) break
    }
    return { rows, last }
  }

  #failHole(id: string, seq: number): never {
    return this.#failCorrupt(`entry ${seq} of session ${id} is missing`)
  }

  #failCorrupt(reason: string): never {
    return fail('JOURNAL_CORRUPT', { path: this.#path, reason })
  }
}
