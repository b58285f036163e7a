/**
 * Group commit: all appends that wait when a connection is free go into one statement, and each succeeds or fails
 * alone. An append whose answer was lost is sent again unchanged; reading alone never decides whether it was stored.
 */
import { backoffMs } from '../../../async/backoff.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { Append } from '../../../ports/journal.ts'
import { RecentTimes } from './append-times.ts'
import { bigints, texts } from './tables/arrays.ts'
import { packBody } from './tables/body.ts'
import type { Answer, DatabaseConnection, Value } from './connection/connection.ts'
import { journalError, mayCome, outcomeOf, sqlState } from './connection/outcome.ts'
import type { SessionColumns } from './tables/rows.ts'
import type { Statements } from './tables/statements.ts'
import { escapeText } from './tables/text.ts'

const MOST_SESSIONS = 500
/** A longer append goes alone. */
const MOST_CHARS = 4 * 1024 * 1024
/** How long an append is sent again and again while the server cannot be reached. */
const RETRY_FOR_MS = 30_000
const PAUSE = { firstMs: 50, longestMs: 500 }

/** One append to one session, or the making of one. At most one of a session is on its way. */
export interface Order {
  readonly kind: 'append' | 'create'
  readonly append: Append
  readonly key: string
  readonly epoch: number
  readonly boot: string
  /** With the epoch the name of this append for ever. */
  readonly batch: number
  readonly columns: SessionColumns
  /** False leaves the session's row as it is. */
  readonly writesRow: boolean
  /** The key of the session whose entries were copied. */
  readonly source?: string
  /** Its entries but for the last ones are stored under `key` already. */
  readonly isDraft?: boolean
}

/** `absent`: the server answered without it. */
export type Committed = 'stored' | 'absent'

interface QueuedAppend {
  readonly order: Order
  readonly body: string | null
  readonly snapshot: string | null
  readonly stored: (committed: Committed) => void
  readonly failed: (error: unknown) => void
}

export interface CommitterOptions {
  readonly connections: readonly DatabaseConnection[]
  readonly statements: Statements
  readonly clock: Clock
  readonly shown: string
}

export class Committer {
  readonly #options: CommitterOptions
  readonly #idle: DatabaseConnection[]
  readonly #working = new Set<Promise<void>>()
  readonly #times = new RecentTimes()
  #waiting: QueuedAppend[] = []

  constructor(options: CommitterOptions) {
    this.#options = options
    this.#idle = [...options.connections]
  }

  /** Milliseconds that the last commits took. */
  get times(): readonly number[] {
    return this.#times.times
  }

  /** Rejects when it was not stored, or with CLUSTER_UNREACHABLE when that is not known. */
  async commit(order: Order): Promise<Committed> {
    const { clock } = this.#options
    const begun = clock.monotonicNow()
    const committed = await this.#queued(order)
    this.#times.add(clock.monotonicNow() - begun)
    return committed
  }

  #queued(order: Order): Promise<Committed> {
    const { entries, snapshot } = order.append
    return new Promise((stored, failed) => {
      this.#waiting.push({
        order,
        body: entries.length === 0 ? null : packBody(entries),
        snapshot: snapshot === undefined ? null : escapeText(snapshot.state),
        stored,
        failed,
      })
      this.#begin()
    })
  }

  /** Resolves once the commit that an answer spoke of is on the standby too, where there is one. */
  async touch(key: string, epoch: number): Promise<void> {
    const [connection] = this.#options.connections
    if (connection !== undefined) await this.#touch(connection, { key, epoch })
  }

  async close(): Promise<void> {
    while (this.#working.size > 0) await Promise.all(this.#working)
    await Promise.all(this.#options.connections.map((connection) => connection.close()))
  }

  #begin(): void {
    const connection = this.#idle.pop()
    if (connection === undefined) return
    const working = this.#work(connection).finally(() => {
      this.#idle.push(connection)
      this.#working.delete(working)
      if (this.#waiting.length > 0) this.#begin()
    })
    this.#working.add(working)
  }

  async #work(connection: DatabaseConnection): Promise<void> {
    // What is appended in the same turn of the event loop goes together.
    await this.#options.clock.nextTick()
    for (let taken = this.#take(); taken.length > 0; taken = this.#take()) await this.#send(connection, taken)
  }

  #take(): readonly QueuedAppend[] {
    const taken: QueuedAppend[] = []
    const kind = this.#waiting[0]?.order.kind
    let chars = 0
    this.#waiting = this.#waiting.filter((one) => {
      const size = (one.body?.length ?? 0) + (one.snapshot?.length ?? 0)
      const fits = taken.length === 0 || (taken.length < MOST_SESSIONS && chars + size <= MOST_CHARS)
      if (!fits || one.order.kind !== kind) return true
      chars += size
      taken.push(one)
      return false
    })
    // In one order everywhere, so that two statements never wait for each other.
    return taken.toSorted((left, right) => (BigInt(left.order.key) < BigInt(right.order.key) ? -1 : 1))
  }

  /** Settles every one of them; never rejects. */
  async #send(connection: DatabaseConnection, taken: readonly QueuedAppend[]): Promise<void> {
    const { clock, statements } = this.#options
    const kind = taken[0]?.order.kind ?? 'append'
    const values = kind === 'append' ? appendValues(taken) : createValues(taken)
    const deadline = clock.monotonicNow() + RETRY_FOR_MS
    for (let failures = 1; ; failures += 1) {
      try {
        return await this.#settle(connection, taken, await connection.change(statements[kind], values))
      } catch (error) {
        const outcome = outcomeOf(error)
        const isOne = taken.length === 1
        if (!isOne && (outcome === 'alone' || !mayCome(outcome))) return this.#sendEach(connection, taken)
        // Two writers met in the primary key.
        if (sqlState(error) === '23505') return settleAll(taken, 'absent')
        if (!mayCome(outcome) || clock.monotonicNow() >= deadline) return this.#refuse(taken, error)
      }
      await clock.sleep(backoffMs(failures, PAUSE))
    }
  }

  #refuse(taken: readonly QueuedAppend[], error: unknown): void {
    for (const { failed } of taken) failed(journalError(error, this.#options.shown))
  }

  async #sendEach(connection: DatabaseConnection, taken: readonly QueuedAppend[]): Promise<void> {
    for (const one of taken) await this.#send(connection, [one])
  }

  async #settle(
    connection: DatabaseConnection,
    taken: readonly QueuedAppend[],
    { rows, isHereOnly }: Answer,
  ): Promise<void> {
    const keys = new Set(rows.map(([key]) => key))
    for (const one of taken) {
      if (!keys.has(one.order.key)) one.stored('absent')
      else if (isHereOnly) await this.#touch(connection, one.order).then(() => one.stored('stored'), one.failed)
      else one.stored('stored')
    }
  }

  /** Cut short once more, it is done again: its own commit waits for the standby. */
  async #touch(
    connection: DatabaseConnection,
    { key, epoch }: { readonly key: string; readonly epoch: number },
  ): Promise<void> {
    const { clock, statements, shown } = this.#options
    const deadline = clock.monotonicNow() + RETRY_FOR_MS
    for (let failures = 1; ; failures += 1) {
      try {
        const { isHereOnly } = await connection.change(statements.touch, [key, epoch])
        if (!isHereOnly) return
      } catch (error) {
        if (!mayCome(outcomeOf(error)) || clock.monotonicNow() >= deadline) throw journalError(error, shown)
      }
      await clock.sleep(backoffMs(failures, PAUSE))
    }
  }
}

function settleAll(taken: readonly QueuedAppend[], committed: Committed): void {
  for (const { stored } of taken) stored(committed)
}

function appendValues(taken: readonly QueuedAppend[]): readonly Value[] {
  const row = ({ order }: QueuedAppend) => (order.writesRow ? order.columns : undefined)
  return [
    bigints(taken.map(({ order }) => order.key)),
    bigints(taken.map(({ order }) => order.append.expected)),
    bigints(taken.map(({ order }) => order.append.row.lastSeq)),
    bigints(taken.map(({ order }) => order.epoch)),
    ...entryValues(taken),
    texts(taken.map((one) => row(one)?.phase ?? null)),
    bigints(taken.map((one) => one.order.append.row.updatedAt)),
    bigints(taken.map((one) => one.order.columns.touched)),
    texts(taken.map((one) => row(one)?.cwd ?? null)),
    texts(taken.map((one) => row(one)?.info ?? null)),
    ...snapshotValues(taken),
  ]
}

function createValues(taken: readonly QueuedAppend[]): readonly Value[] {
  return [
    bigints(taken.map(({ order }) => order.key)),
    bigints(taken.map(({ order }) => order.append.expected)),
    bigints(taken.map(({ order }) => order.append.row.lastSeq)),
    ...entryValues(taken),
    texts(taken.map(({ order }) => order.columns.phase)),
    bigints(taken.map(({ order }) => order.append.row.updatedAt)),
    bigints(taken.map(({ order }) => order.columns.touched)),
    texts(taken.map(({ order }) => order.columns.cwd)),
    texts(taken.map(({ order }) => order.columns.info)),
    ...snapshotValues(taken),
    texts(taken.map(({ order }) => escapeText(order.append.row.id))),
    texts(taken.map(({ order }) => order.boot)),
    bigints(taken.map(({ order }) => order.source ?? null)),
    texts(taken.map(({ order }) => String(order.isDraft ?? false))),
  ]
}

function entryValues(taken: readonly QueuedAppend[]): readonly Value[] {
  return [
    bigints(taken.map(({ order }) => order.batch)),
    bigints(taken.map(({ order }) => order.append.entries.at(-1)?.at ?? order.append.row.updatedAt)),
    texts(taken.map(({ body }) => body)),
  ]
}

function snapshotValues(taken: readonly QueuedAppend[]): readonly Value[] {
  return [
    bigints(taken.map(({ order }) => order.append.snapshot?.seq ?? null)),
    texts(taken.map(({ snapshot }) => snapshot)),
  ]
}
