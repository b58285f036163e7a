/** Prepared once, used often. */
import type { Database } from './file.ts'

type Value = string | number | null

export class Statements {
  readonly #db: Database
  readonly #known = new Map<string, ReturnType<Database['prepare']>>()

  constructor(db: Database) {
    this.#db = db
  }

  run(sql: string, ...values: readonly Value[]): number {
    return Number(this.#prepare(sql).run(...values).lastInsertRowid)
  }

  get(sql: string, ...values: readonly Value[]): unknown {
    return this.#prepare(sql).get(...values)
  }

  all(sql: string, ...values: readonly Value[]): readonly unknown[] {
    return this.#prepare(sql).all(...values)
  }

  /** All of it or nothing, also for whoever is killed meanwhile. */
  transaction<Result>(write: () => Result): Result {
    this.#db.exec('BEGIN IMMEDIATE')
    try {
      const result = write()
      this.#db.exec('COMMIT')
      return result
    } finally {
      if (this.#db.isTransaction) this.#db.exec('ROLLBACK')
    }
  }

  #prepare(sql: string): ReturnType<Database['prepare']> {
    const known = this.#known.get(sql)
    if (known !== undefined) return known
    const statement = this.#db.prepare(sql)
    this.#known.set(sql, statement)
    return statement
  }
}
