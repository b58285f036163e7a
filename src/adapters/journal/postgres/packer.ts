/**
 * Packs rows of few entries into rows of many, after the appends. A word that was streamed alone then takes a tenth of
 * the space, and a page is read faster. Nothing waits for it, and a row that cannot be packed is left as it is.
 */
import type { Append, Cursor, PageLimits, SessionId, StoredEntry } from '../../../ports/journal.ts'
import type { DatabaseConnection } from './connection/connection.ts'
import { packBody } from './tables/body.ts'
import type { Statements } from './tables/statements.ts'

/** Entries of one packed row, at least, while a turn runs. */
const ENTRIES = 256
/** A session at rest has that many rows packed, or none. */
const ROWS = 16
/** Rows of more entries, or of more text, gain too little. */
const MOST_ENTRIES_A_ROW = 8
const MOST_CHARS_A_ROW = 2_048
/** Ranges that wait; while the database is that slow nothing more is packed. */
const MOST_WAITING = 1_000

export interface PackedSession {
  readonly id: SessionId
  readonly key: string
  readonly epoch: number
}

export interface PackerOptions {
  /** Used for nothing else: packing may wait for a standby, and nothing may wait for packing. */
  readonly connection: DatabaseConnection
  readonly statements: Pick<Statements, 'pack'>
  readonly page: (session: PackedSession, from: Cursor, limits: PageLimits) => Promise<readonly StoredEntry[]>
}

/** Rows after entry `from` that are as they were appended. */
interface Loose {
  readonly from: Cursor
  readonly until: Cursor
  readonly rows: number
  readonly chars: number
}

export class Packer {
  readonly #options: PackerOptions
  readonly #loose = new WeakMap<object, Loose>()
  #waiting = 0
  #packing: Promise<void> = Promise.resolve()
  #isClosing = false

  constructor(options: PackerOptions) {
    this.#options = options
  }

  /** An append was acknowledged. `holder` stands for as long as this process owns the session without a break. */
  appended(holder: object, session: PackedSession, { row, entries, expected }: Append): void {
    if (entries.length === 0) return
    const { from, rows, chars } = this.#loose.get(holder) ?? { from: expected, rows: 0, chars: 0 }
    const length = entries.reduce((sum, { body }) => sum + body.length, 0)
    const loose = { from, until: row.lastSeq, rows: rows + 1, chars: chars + length }
    const isAtRest = row.phase === 'idle' || row.phase === 'closed'
    if (!isAtRest && loose.until - from < ENTRIES) return void this.#loose.set(holder, loose)
    this.#loose.delete(holder)
    if (isWorthwhile(loose) && this.#waiting < MOST_WAITING) this.#queue(session, loose)
  }

  /** What waits is not packed any more. */
  async close(): Promise<void> {
    this.#isClosing = true
    await this.#packing
    await this.#options.connection.close()
  }

  #queue(session: PackedSession, loose: Loose): void {
    this.#waiting += 1
    this.#packing = this.#packing
      .then(() => (this.#isClosing ? undefined : this.#pack(session, loose)))
      // The rows stay as they are, which is right too.
      .catch(() => undefined)
      .finally(() => (this.#waiting -= 1))
  }

  async #pack(session: PackedSession, { from, until }: Loose): Promise<void> {
    const { connection, statements, page } = this.#options
    const entries = await page(session, from, { entries: until - from, chars: Infinity })
    const last = entries.at(-1)
    // The session was deleted meanwhile.
    if (last?.seq !== until || entries.length !== until - from) return
    const values = [session.key, session.epoch, from, until, last.at, packBody(entries)]
    await connection.change(statements.pack, values)
  }
}

function isWorthwhile({ from, until, rows, chars }: Loose): boolean {
  return rows >= ROWS && (until - from) / rows < MOST_ENTRIES_A_ROW && chars / rows < MOST_CHARS_A_ROW
}
