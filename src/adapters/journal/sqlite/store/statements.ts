/** Prepared statements by their text; rows come as arrays. */
import type { Database } from '../file/schema.ts'

type Statement = ReturnType<Database['prepare']>
type Value = string | number | null

export class Statements {
  readonly #db: Database
  readonly #known = new Map<string, Statement>()

  constructor(db: Database) {
    this.#db = db
  }

  /** After an error: a statement of this library that failed once fails again the next time, however sound that is. */
  renew(): void {
    this.#known.clear()
  }

  run(sql: string, ...values: readonly Value[]): void {
    this.prepare(sql).run(...values)
  }

  /** The first column of the first row. */
  number(sql: string, ...values: readonly (string | number)[]): number | undefined {
    return (this.get(sql, ...values) as readonly [number] | undefined)?.[0]
  }

  get(sql: string, ...values: readonly (string | number)[]): unknown {
    return this.prepare(sql).get(...values)
  }

  prepare(sql: string): Statement {
    const known = this.#known.get(sql)
    if (known !== undefined) return known
    const statement = this.#db.prepare(sql)
    statement.setReturnArrays(true)
    this.#known.set(sql, statement)
    return statement
  }
}
