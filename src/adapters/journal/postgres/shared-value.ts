/** A small text that all nodes of a cluster share: a row of `meta` in the first database, which exists in every cluster. */
import { backoffMs } from '../../../async/backoff.ts'
import { fail } from '../../../errors/parley-error.ts'
import type { Clock } from '../../../ports/clock.ts'
import { parseAddress } from './connection/address.ts'
import { type Answer, DatabaseConnection } from './connection/connection.ts'
import { journalError, mayCome, outcomeOf } from './connection/outcome.ts'
import type { Timeline } from './connection/timeline.ts'
import { quotedSchema } from './tables/layout.ts'

/** A question that takes longer is given up. */
const READ_LIMIT_MS = 3_000
const READ_ATTEMPTS = 2
/** A change may have to wait for a standby. */
const LIMIT_MS = 10_000
const ATTEMPTS = 3
const PAUSE = { firstMs: 50, longestMs: 500 }
/** Of a version's name, which stands before the text. */
const VERSION_LENGTH = 36

export interface SharedText {
  /** A UUID; empty where there is no text yet. */
  readonly version: string
  readonly text: string
}

export interface SharedValueOptions {
  /** Of the first database. */
  readonly url: string
  readonly schema: string
  readonly name: string
  readonly clock: Clock
  readonly isReplicated?: boolean
  readonly timeline?: Timeline | undefined
}

export class SharedValue {
  readonly shown: string
  readonly #name: string
  readonly #clock: Clock
  readonly #connection: DatabaseConnection
  readonly #statements: ReturnType<typeof statementsOf>

  constructor({ url, schema, name, clock, isReplicated = false, timeline }: SharedValueOptions) {
    const address = parseAddress(url)
    this.shown = address.shown
    this.#name = name
    this.#clock = clock
    this.#statements = statementsOf(schema)
    this.#connection = new DatabaseConnection({ address, clock, isReplicated, timeline, connected: () => undefined })
  }

  /** Undefined while it is still the version `known`. Throws CLUSTER_UNREACHABLE and its kin. */
  async newer(known: string): Promise<SharedText | undefined> {
    const { newer } = this.#statements
    const { rows } = await this.#repeat(
      () => this.#connection.query(newer, [this.#name, known], READ_LIMIT_MS),
      READ_ATTEMPTS,
    )
    const [row] = rows
    if (row === undefined) return known === '' ? undefined : { version: '', text: '' }
    const [value] = row
    if (value === null || value === undefined) return undefined
    return { version: value.slice(0, VERSION_LENGTH), text: value.slice(VERSION_LENGTH) }
  }

  /** False where it is not the version `known` any more. Throws the same; then whether it was changed is not known. */
  async replace(known: string, { version, text }: SharedText): Promise<boolean> {
    const values = [this.#name, known, version, `${version}${text}`]
    // Asked a second time, it is its own version that it finds: that is stored, and waits for a standby as the first one did.
    const { rows } = await this.#repeat(
      () => this.#connection.change(this.#statements.replace, values, LIMIT_MS),
      ATTEMPTS,
    )
    return rows.length > 0
  }

  async close(): Promise<void> {
    await this.#connection.close()
  }

  async #repeat(ask: () => Promise<Answer>, attempts: number): Promise<Answer> {
    const until = this.#clock.monotonicNow() + LIMIT_MS
    for (let attempt = 1; ; attempt += 1) {
      const isLate = (): boolean => this.#clock.monotonicNow() >= until
      try {
        const answer = await ask()
        if (!answer.isHereOnly || isLate()) return answer
      } catch (error) {
        if (!mayCome(outcomeOf(error))) throw journalError(error, this.shown)
        if (isLate()) fail('CLUSTER_UNREACHABLE', { address: this.shown, reason: LATE }, error)
        if (attempt === attempts) throw journalError(error, this.shown)
      }
      await this.#clock.sleep(backoffMs(attempt, PAUSE))
    }
  }
}

const LATE = `it has not answered in ${LIMIT_MS / 1_000} seconds, perhaps because it waits for a standby`

function statementsOf(schema: string) {
  const meta = `${quotedSchema(schema)}.meta`
  return {
    /** A row without a value where it is the known version. */
    newer: {
      name: 'parley_newer',
      text: `SELECT CASE WHEN left(value, ${VERSION_LENGTH}) <> $2 THEN value END FROM ${meta} WHERE name = $1`,
    },
    replace: {
      name: 'parley_replace',
      text: `INSERT INTO ${meta} AS stored (name, value) VALUES ($1, $4)
        ON CONFLICT (name) DO UPDATE SET value = excluded.value
        WHERE left(stored.value, ${VERSION_LENGTH}) IN ($2, $3) RETURNING name`,
    },
  }
}
