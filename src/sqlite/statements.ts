/** Prepared statements of one database, transactions, and text as a column. Importing this file does not load the SQLite library. */
import type { Database, Statement } from './database.ts'

type Value = string | number | null

export class Statements {
  readonly #db: Database
  readonly #rows: 'arrays' | 'objects'
  readonly #prepared = new Map<string, Statement>()

  constructor(db: Database, rows: 'arrays' | 'objects') {
    this.#db = db
    this.#rows = rows
  }

  /** Call it after an error: a statement of this library that failed once fails again, even when nothing is wrong any more. */
  renew(): void {
    this.#prepared.clear()
  }

  /** Answers the rowid of the row that was inserted last. */
  run(sql: string, ...values: readonly Value[]): number {
    return Number(this.prepare(sql).run(...values).lastInsertRowid)
  }

  get(sql: string, ...values: readonly Value[]): unknown {
    return this.prepare(sql).get(...values)
  }

  all(sql: string, ...values: readonly Value[]): readonly unknown[] {
    return this.prepare(sql).all(...values)
  }

  /** The first column of the first row; only where rows are arrays. */
  number(sql: string, ...values: readonly Value[]): number | undefined {
    return (this.get(sql, ...values) as readonly [number] | undefined)?.[0]
  }

  transaction<Result>(write: () => Result): Result {
    return inTransaction(this.#db, write)
  }

  prepare(sql: string): Statement {
    const known = this.#prepared.get(sql)
    if (known !== undefined) return known
    const statement = this.#db.prepare(sql)
    if (this.#rows === 'arrays') statement.setReturnArrays(true)
    this.#prepared.set(sql, statement)
    return statement
  }
}

/** Runs `write` in one transaction: all of it is stored, or nothing. */
export function inTransaction<Result>(db: Database, write: () => Result): Result {
  db.exec('BEGIN IMMEDIATE')
  try {
    const result = write()
    db.exec('COMMIT')
    return result
  } finally {
    rollBack(db)
  }
}

/** Does nothing when no transaction is open; SQLite rolls back by itself after some errors. */
export function rollBack(db: Database): void {
  if (db.isTransaction) db.exec('ROLLBACK')
}

/**
 * Any text as a column. The SQLite library cuts a text at a NUL and cannot keep half a surrogate pair. Written as the inside of a JSON
 * string every text comes back as it was, and `a\0b` never finds the row of `a`.
 */
export function escapeText(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}

export function unescapeText(text: string): string {
  return text.includes('\\') ? (JSON.parse(`"${text}"`) as string) : text
}
