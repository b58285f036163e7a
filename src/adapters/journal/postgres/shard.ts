/** The sessions of one database. */
import { backoffMs } from '../../../async/backoff.ts'
import { waitAtMost } from '../../../async/with-timeout.ts'
import { fail, isParleyError } from '../../../errors/parley-error.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { Append, Cursor, PageLimits, SessionId, StoredEntry } from '../../../ports/journal.ts'
import type { Address } from './connection/address.ts'
import { bigints } from './tables/arrays.ts'
import { unpackBody } from './tables/body.ts'
import { type Committed, Committer, type Order } from './committer.ts'
import { type Answer, DatabaseConnection, type Value } from './connection/connection.ts'
import { type Fitness, fitnessOf } from './connection/fitness.ts'
import { type Identity, identityOf } from './tables/layout.ts'
import { Timeline } from './connection/timeline.ts'
import { journalError, mayCome, outcomeOf } from './connection/outcome.ts'
import {
  type HeadColumns,
  type SessionColumns,
  type StoredSession,
  columnsOf,
  storedSession,
  writesRow,
} from './tables/rows.ts'
import { Packer } from './packer.ts'
import { type Statement, type Statements, statementsOf } from './tables/statements.ts'
import { escapeText } from './tables/text.ts'

/** A second one adds half, four add nothing. */
const WRITERS = 2
const READERS = 2
/** After this the connection is given up: a server that died need not say so. */
const READ_TIMEOUT_MS = 10_000
/** A change that is not acknowledged in this time waits for something. */
const PROBE_MS = 3_000
const READ_ATTEMPTS = 5
const PAUSE = { firstMs: 50, longestMs: 500 }

export interface ShardOptions {
  readonly address: Address
  readonly schema: string
  /** Names this process: what it creates and claims is its own. */
  readonly boot: string
  /** Also where an acknowledgement does not survive the end of the server. */
  readonly unsafe: boolean
  /** Only what a synchronous standby has too is stored. */
  readonly isReplicated?: boolean
  readonly clock: Clock
}

export interface ShardSize {
  readonly sessions: number
  /** Of all tables and their indexes. */
  readonly bytes: number
  readonly transactionSeconds: number
}

/** A session whose last entry was `had`, and is `found` now. */
export interface LostEnd {
  readonly session: SessionId
  readonly had: Cursor
  readonly found: Cursor
}

interface SessionKey {
  readonly id: SessionId
  readonly key: string
}

/** A session that this process may append to. */
interface Held {
  readonly key: string
  readonly epoch: number
  /** The last entry that was acknowledged; undefined once an append is neither known to be stored nor not to be. */
  last: Cursor | undefined
  /** How often that was so. */
  doubts: number
  columns: SessionColumns
}

export class Shard {
  readonly shown: string
  readonly statements: Statements
  readonly clock: Clock
  readonly boot: string
  readonly timeline: Timeline
  readonly #unsafe: boolean
  readonly #isReplicated: boolean
  readonly #committer: Committer
  readonly #packer: Packer
  readonly #readers: readonly DatabaseConnection[]
  readonly #held = new Map<SessionId, Held>()
  readonly #tails = new Map<SessionId, Promise<unknown>>()
  #batch = 0
  #next = 0
  #fitness: Fitness | undefined

  constructor({ address, schema, boot, unsafe, isReplicated = false, clock }: ShardOptions) {
    this.shown = address.shown
    this.timeline = new Timeline(address)
    this.statements = statementsOf(schema)
    this.clock = clock
    this.boot = boot
    this.#unsafe = unsafe
    this.#isReplicated = isReplicated
    const connection = () =>
      new DatabaseConnection({
        address,
        clock,
        isReplicated,
        timeline: this.timeline,
        connected: (settings) => this.#judge(fitnessOf(settings)),
      })
    this.#readers = Array.from({ length: READERS }, connection)
    const connections = Array.from({ length: WRITERS }, connection)
    this.#committer = new Committer({ connections, statements: this.statements, clock, shown: this.shown })
    this.#packer = new Packer({
      connection: connection(),
      statements: this.statements,
      page: (session, from, limits) => this.pageOf(session, from, limits),
    })
  }

  /** As it is now; while the server does not answer, as it was. */
  async fitness(): Promise<Fitness | undefined> {
    const asked = this.#reader()
      .settings(PROBE_MS)
      .then(fitnessOf, () => undefined)
    return (await waitAtMost(asked, { clock: this.clock, ms: PROBE_MS })) ?? this.#fitness
  }

  /** Milliseconds that the last appends took. */
  get times(): readonly number[] {
    return this.#committer.times
  }

  /** How much is stored there, and how long the oldest transaction of its database has been open. */
  async size(): Promise<ShardSize> {
    const { rows } = await this.read(this.statements.size, [])
    const [sessions, bytes, transactionSeconds] = (rows[0] ?? []).map(Number)
    return { sessions: sessions ?? 0, bytes: bytes ?? 0, transactionSeconds: transactionSeconds ?? 0 }
  }

  /** Whether a change is acknowledged soon: it may wait for a standby that is away. */
  async acknowledges(): Promise<boolean> {
    const probed = this.#reader().query(this.statements.probe, [], PROBE_MS)
    return probed.then(
      () => true,
      () => false,
    )
  }

  /** Throws PG_UNSAFE, PG_UNFIT, and CLUSTER_UNREACHABLE. Undefined where no cluster was made. */
  async identity(): Promise<Identity | undefined> {
    try {
      const { rows } = await this.read(this.statements.meta, [])
      return identityOf(rows as readonly (readonly [string, string])[])
    } catch (error) {
      // Of what was never made there is no table.
      if (isParleyError(error, 'CLUSTER_ABSENT')) return undefined
      throw error
    }
  }

  /** One change of a session after the other. */
  async inTurn<Result>(id: SessionId, act: () => Promise<Result>): Promise<Result> {
    const turn = (this.#tails.get(id) ?? Promise.resolve()).then(act)
    const tail = turn.catch(() => undefined)
    this.#tails.set(id, tail)
    try {
      return await turn
    } finally {
      if (this.#tails.get(id) === tail) this.#tails.delete(id)
    }
  }

  async append(append: Append): Promise<void> {
    const { row, expected } = append
    const held = this.#held.get(row.id) ?? (expected === 0 ? undefined : await this.#adopted(row.id))
    if (held === undefined) return expected === 0 ? this.create(append) : this.#conflict(append)
    if (held.last !== undefined && held.last !== expected) return failConflict(append, held.last)
    const columns = columnsOf(row)
    const order = { ...this.#order(append, columns), key: held.key, epoch: held.epoch }
    const committed = await this.#commit(held, { ...order, writesRow: writesRow(append, columns, held.columns) })
    if (committed === 'absent') await this.#resolve(append, held, order.batch)
    held.last = row.lastSeq
    held.columns = columns
    this.#packer.appended(held, { id: row.id, key: held.key, epoch: held.epoch }, append)
  }

  /** With the entries of a draft before its own, if it has a `key`. */
  async create(append: Append, draft?: { readonly key: string; readonly source?: string }): Promise<void> {
    const { key, source } = draft ?? { key: this.newKey() }
    const columns = columnsOf(append.row)
    const order = this.#order(append, columns)
    const held: Held = { key, epoch: 1, last: append.row.lastSeq, doubts: 0, columns }
    const made = await this.#committer.commit({
      ...order,
      kind: 'create',
      key,
      isDraft: draft !== undefined,
      ...(source !== undefined && { source }),
    })
    if (made === 'absent') {
      const stored = await this.stored(append.row.id)
      // Made after all, by the same statement before: its answer was lost.
      if (stored?.key === key) await this.#committer.touch(key, 1)
      else if (stored !== undefined) failConflict(append, stored.row.lastSeq)
      else throw new NotMade()
    }
    this.#held.set(append.row.id, held)
  }

  /**
   * The session as it is stored. Where an append is neither known to be stored nor not to be, what is read is on the standby too
   * before it is answered.
   */
  async head(id: SessionId): Promise<StoredSession | undefined> {
    const held = this.#held.get(id)
    if (held === undefined || held.last !== undefined) return this.stored(id)
    const { key, epoch, doubts } = held
    await this.#committer.touch(key, epoch)
    const stored = await this.stored(id)
    // Not where it was resolved meanwhile: what was read then may be older.
    const isDoubted = held.last === undefined && held.doubts === doubts
    if (isDoubted && stored?.key === key && stored.epoch === epoch) held.last = stored.row.lastSeq
    return stored
  }

  /** What the tables say now. */
  async stored(id: SessionId): Promise<StoredSession | undefined> {
    const { rows } = await this.read(this.statements.head, [escapeText(id)])
    return rows[0] === undefined ? undefined : storedSession(rows[0] as unknown as HeadColumns)
  }

  async key(id: SessionId): Promise<string | undefined> {
    const held = this.#held.get(id)
    if (held !== undefined) return held.key
    return (await this.read(this.statements.key, [escapeText(id)])).rows[0]?.[0] ?? undefined
  }

  async page(id: SessionId, from: Cursor, limits: PageLimits): Promise<readonly StoredEntry[]> {
    const key = await this.key(id)
    return key === undefined ? [] : this.pageOf({ id, key }, from, limits)
  }

  /** Of a draft, which has no id yet, too. */
  async pageOf({ id, key }: SessionKey, from: Cursor, { entries, chars }: PageLimits): Promise<readonly StoredEntry[]> {
    const found: StoredEntry[] = []
    let left = chars
    for (;;) {
      const next = from + found.length + 1
      const { rows } = await this.read(this.statements.page, [key, next, Math.max(1, Math.min(left, 4 * 1024 * 1024))])
      const read = rows
        .flatMap(([first, , body]) => unpackBody(Number(first), body ?? ''))
        .filter(({ seq }) => seq >= next)
      if (read.length === 0) return found
      for (const [index, entry] of read.entries()) {
        if (entry.seq !== next + index) return this.#hole(id, key, next + index)
        left -= entry.body.length
        if (found.length > 0 && (left < 0 || found.length >= entries)) return found
        found.push(entry)
      }
    }
  }

  async delete(id: SessionId): Promise<boolean> {
    const stored = await this.stored(id)
    if (stored === undefined) return false
    if (stored.boot !== this.boot)
      fail('JOURNAL_CONFLICT', { session: id, expected: stored.row.lastSeq, found: stored.row.lastSeq })
    const values = [stored.key, stored.epoch, this.clock.now()]
    const { rows, isHereOnly } = await this.write(this.statements.delete, values)
    this.#held.delete(id)
    const isFirst = rows.length > 0
    if (!isFirst && (await this.stored(id))?.key === stored.key) return false
    // Without a row the answer to a first attempt was lost, and with it whether the standby has it.
    if (!isFirst || isHereOnly) await this.#replicateDelete(stored.key)
    return true
  }

  /**
   * Makes the session this process's own, if its epoch is still the one that was seen; false if not. What was read before is old then:
   * a claim may have waited for an append.
   */
  async claim(id: SessionId, seen: number): Promise<boolean> {
    await this.write(this.statements.claim, [escapeText(id), seen, this.boot])
    // The answer may be that of a second attempt, so what is stored decides.
    const stored = await this.stored(id)
    if (stored?.boot !== this.boot || stored.epoch !== seen + 1) return false
    await this.#committer.touch(stored.key, stored.epoch)
    this.#hold(stored)
    return true
  }

  /** Gives it to the process `to`; absent: any may claim it. False if it was not this one's to give. */
  async release(id: SessionId, to?: string): Promise<boolean> {
    const held = this.#held.get(id) ?? (await this.#adopted(id))
    if (held === undefined) return false
    this.#held.delete(id)
    const { rows } = await this.write(this.statements.claim, [escapeText(id), held.epoch, to ?? null])
    if (rows.length > 0) return true
    // The answer may be that of a second attempt, so what is stored decides.
    const stored = await this.stored(id)
    return stored?.key === held.key && stored.epoch > held.epoch && (stored.boot ?? undefined) === to
  }

  /** The processes that have drafts. */
  async drafters(): Promise<readonly string[]> {
    const { rows } = await this.read(this.statements.drafters, [])
    return rows.flatMap(([boot]) => boot ?? [])
  }

  /** A process is gone, or owns nothing any more: its sessions are free, and its drafts come to nothing. */
  async disown(boot: string): Promise<void> {
    if (boot === this.boot) this.#held.clear()
    for (let released = 1; released > 0;) {
      const { rows } = await this.write(this.statements.disown, [boot])
      released = rows.length
    }
    await this.write(this.statements.inherit, [boot])
  }

  holds(id: SessionId): boolean {
    return this.#held.has(id)
  }

  /** Reads anew what is stored of a session that lacks what was acknowledged, before anything is appended to it. */
  forget(id: SessionId): void {
    this.#held.delete(id)
  }

  /** The sessions of this process whose end is not there any more: a standby that was behind was promoted. */
  async lostEnds(): Promise<readonly LostEnd[]> {
    const known = [...this.#held].flatMap(([session, { key, epoch, last: had }]) =>
      had === undefined ? [] : [{ session, key, epoch, had }],
    )
    const { rows } = await this.read(this.statements.ends, [bigints(known.map(({ key }) => key))])
    const stored = new Map(rows.map(([key, epoch, last]) => [key, { epoch: Number(epoch), last: Number(last) }]))
    return known.flatMap(({ session, key, epoch, had }) => {
      const now = stored.get(key) ?? { epoch: 0, last: 0 }
      const isWhole = now.epoch > epoch || (now.epoch === epoch && now.last >= had)
      // One that was deleted meanwhile is gone for another reason.
      return isWhole || this.#held.get(session)?.key !== key ? [] : [{ session, had, found: now.last }]
    })
  }

  /** Random, and new for each session. */
  newKey(): string {
    const id = this.clock.id().replaceAll('-', '')
    return String(BigInt.asUintN(62, BigInt(`0x${id.slice(0, 12)}${id.slice(-4)}`)))
  }

  /** Nothing changes by it, so it is simply asked again. */
  async read(statement: Statement, values: readonly Value[]): Promise<Answer> {
    return this.#repeat(() => this.#reader().query(statement, values, READ_TIMEOUT_MS))
  }

  /** A change that may be made twice: the second time changes nothing. */
  async write(statement: Statement, values: readonly Value[]): Promise<Answer> {
    return this.#repeat(() => this.#reader().change(statement, values))
  }

  /** A change that must not be made twice; whether it was made is not known after CLUSTER_UNREACHABLE. */
  async once(statement: Statement, values: readonly Value[]): Promise<Answer> {
    try {
      return await this.#reader().change(statement, values)
    } catch (error) {
      throw journalError(error, this.shown)
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.#tails.values())
    await this.#committer.close()
    await this.#packer.close()
    await Promise.all(this.#readers.map((reader) => reader.close()))
  }

  #order(append: Append, columns: SessionColumns): Omit<Order, 'key'> {
    this.#batch += 1
    return { kind: 'append', append, epoch: 1, boot: this.boot, batch: this.#batch, columns, writesRow: true }
  }

  async #commit(held: Held, order: Order): Promise<Committed> {
    try {
      return await this.#committer.commit(order)
    } catch (error) {
      held.last = undefined
      held.doubts += 1
      throw error
    }
  }

  /** Cut short once more, it is done again. */
  async #replicateDelete(key: string): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      const { isHereOnly } = await this.write(this.statements.deleted, [key, this.clock.now()])
      if (!isHereOnly) return
      await this.clock.sleep(backoffMs(attempt, PAUSE))
    }
  }

  /** Why the server stored nothing. Returns where it had stored it before. */
  async #resolve(append: Append, held: Held, batch: number): Promise<void> {
    const { id } = append.row
    const stored = await this.stored(id)
    const had = held.last ?? append.expected
    if (stored?.key !== held.key || stored.epoch > held.epoch) {
      this.#held.delete(id)
      return failConflict(append, stored?.row.lastSeq ?? 0)
    }
    const found = stored.row.lastSeq
    if (stored.epoch < held.epoch || found < had) {
      this.#held.delete(id)
      return fail('JOURNAL_WENT_BACK', { session: id, had, found })
    }
    await this.#committer.touch(held.key, held.epoch)
    if (stored.lastAppend?.epoch === held.epoch && stored.lastAppend.batch === batch) return undefined
    held.last = found
    const reason = `an append to session ${id} whose answer was lost has been stored after all`
    return fail('JOURNAL_IO', { path: this.shown, reason })
  }

  /** A session of this process that is not held: an answer was lost, or it was claimed by other means. */
  async #adopted(id: SessionId): Promise<Held | undefined> {
    const stored = await this.stored(id)
    return stored?.boot === this.boot ? this.#hold(stored) : undefined
  }

  #hold({ key, epoch, row, columns }: StoredSession): Held {
    const held = { key, epoch, last: row.lastSeq, doubts: 0, columns }
    this.#held.set(row.id, held)
    return held
  }

  async #conflict(append: Append): Promise<never> {
    return failConflict(append, (await this.stored(append.row.id))?.row.lastSeq ?? 0)
  }

  /** The entries of a session that is deleted meanwhile go away under its readers. */
  async #hole(id: SessionId, key: string, seq: number): Promise<readonly StoredEntry[]> {
    if ((await this.stored(id))?.key !== key) return []
    return fail('JOURNAL_CORRUPT', { path: this.shown, reason: `entry ${seq} of session ${id} is missing` })
  }

  #reader(): DatabaseConnection {
    this.#next = (this.#next + 1) % this.#readers.length
    const reader = this.#readers[this.#next]
    if (reader === undefined) throw new Error('there is no reader')
    return reader
  }

  async #repeat(ask: () => Promise<Answer>): Promise<Answer> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await ask()
      } catch (error) {
        if (!mayCome(outcomeOf(error)) || attempt === READ_ATTEMPTS) throw journalError(error, this.shown)
      }
      await this.clock.sleep(backoffMs(attempt, PAUSE))
    }
  }

  #judge(fitness: Fitness): void {
    const { unfit, unsafe } = fitness
    if (unfit[0] !== undefined) fail('PG_UNFIT', { address: this.shown, reason: unfit.join('; ') })
    if (unsafe[0] !== undefined && !this.#unsafe) fail('PG_UNSAFE', { address: this.shown, reason: unsafe.join('; ') })
    // One that gets worse later is waited for, as one whose standby is away.
    if (this.#isReplicated && this.#fitness === undefined && fitness.durability !== 'replicated')
      fail('PG_TOO_WEAK', { address: this.shown, durability: fitness.durability })
    this.#fitness = fitness
  }
}

/** The session whose entries were copied was deleted meanwhile, or the draft was taken from this process. */
export class NotMade extends Error {}

function failConflict({ row, expected }: Append, found: number): never {
  return fail('JOURNAL_CONFLICT', { session: row.id, expected, found })
}
