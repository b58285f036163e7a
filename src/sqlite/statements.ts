/** Prepared statements of one database, each prepared once. */
import { type Database, type Statement, inTransaction } from './database.ts'

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
