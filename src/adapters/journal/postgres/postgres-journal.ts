/** The journal of a cluster: PostgreSQL, one database or several among which the sessions are divided by their ids. */
import { fail } from '../../../errors/parley-error.ts'
import type { Clock } from '../../../ports/clock.ts'
import type {
  Append,
  Cursor,
  FoundEntries,
  ImportingJournal,
  ListQuery,
  PageLimits,
  SessionChange,
  SessionHead,
  SessionId,
  SessionSummary,
  StoredEntry,
  TextSearch,
} from '../../../ports/journal.ts'
import type { Signal } from '../../../ports/values/signal.ts'
import { TailSubscribers, checkAppend, follow } from '../journal-base.ts'
import { type AppendTimes, appendTimesOf } from './append-times.ts'
import { parseAddress } from './connection/address.ts'
import { forkAcross, forkWithin, importInto } from './drafts.ts'
import type { Fitness } from './connection/fitness.ts'
import { checkedCluster } from './tables/init.ts'
import { listSessions } from './list-sessions.ts'
import { knownLayout } from './tables/layout.ts'
import { type LostEnd, Shard, type ShardSize } from './shard.ts'
import type { Timeline } from './connection/timeline.ts'
import { Sweeper } from './sweeper.ts'

export interface PostgresJournalOptions {
  /** One for each shard. Each may name several hosts, which are tried in turn. */
  readonly urls: readonly string[]
  readonly schema: string
  /** Names this process; never used by another one. */
  readonly boot: string
  readonly unsafe: boolean
  /** Only what a synchronous standby has too is stored: a server without one is refused, and waited for when it loses it later. */
  readonly isReplicated?: boolean
  readonly clock: Clock
  readonly report: (error: unknown) => void
}

export interface ShardFitness extends Fitness {
  /** Of the database, without password. */
  readonly address: string
}

export interface SessionOwner {
  readonly epoch: number
  /** Absent where any process may claim it. */
  readonly boot: string | undefined
}

export interface PostgresJournal extends ImportingJournal {
  /** Of the first database. */
  readonly timeline: Timeline
  /** Of each database now; of one that does not answer, as it was. */
  fitness(): Promise<readonly ShardFitness[]>
  /** Of the last appends to all of them; undefined before the first. */
  appendTimes(): AppendTimes | undefined
  /** Of each database, in their order. */
  sizes(): Promise<readonly ShardSize[]>
  /** The addresses of the databases that acknowledge no change now. */
  waiting(): Promise<readonly string[]>
  /** Who may append to a session by the tables; undefined where there is none. */
  owner(id: SessionId): Promise<SessionOwner | undefined>
  /** Whether this process may append to it, as far as it knows. */
  holds(id: SessionId): boolean
  /** Once true no other process can append, unless it claims the session in turn. False when the epoch is not `seen` any more. */
  claim(id: SessionId, seen: number): Promise<boolean>
  /** Gives it to the process `to`; absent: any may claim it. False if it was not this one's to give. */
  release(id: SessionId, to?: string): Promise<boolean>
  /** Calls `listener` of each session of this process that has lost its end when a standby was promoted. */
  whenWentBack(listener: (lost: LostEnd) => Promise<void>): void
  /** The processes that have begun to make sessions and have not ended that. */
  drafters(): Promise<readonly string[]>
  /** A process is gone, or owns nothing any more: its sessions are free then, and what it left half done is cleared away. */
  disown(boot: string): Promise<void>
}

/** Throws CLUSTER_ABSENT, CLUSTER_FOREIGN, CLUSTER_UNREACHABLE, PG_UNSAFE, PG_UNFIT and JOURNAL_TOO_NEW. */
export async function openPostgresJournal(options: PostgresJournalOptions): Promise<PostgresJournal> {
  return new ShardedJournal(await openShards(options), options.report)
}

/** Throws the same. */
export async function openShards(options: Omit<PostgresJournalOptions, 'report'>): Promise<readonly Shard[]> {
  const shards = options.urls.map((url) => new Shard({ ...options, address: parseAddress(url) }))
  try {
    await requireOneCluster(shards)
  } catch (error) {
    await Promise.all(shards.map((shard) => shard.close()))
    throw error
  }
  return shards
}

async function requireOneCluster(shards: readonly Shard[]): Promise<void> {
  let cluster: string | undefined
  for (const [index, shard] of shards.entries()) {
    const wanted = { layout: knownLayout, cluster: cluster ?? '', shard: index, shards: shards.length }
    const check = { shown: shard.shown, isCertain: cluster !== undefined }
    cluster = checkedCluster(await shard.identity(), wanted, check)
  }
}

class ShardedJournal implements PostgresJournal {
  readonly #shards: readonly Shard[]
  readonly #subscribers = new TailSubscribers()
  readonly #report: (error: unknown) => void
  readonly #sweepers: ReadonlyMap<Shard, Sweeper>
  #closing: Promise<void> | undefined

  constructor(shards: readonly Shard[], report: (error: unknown) => void) {
    this.#shards = shards
    this.#report = report
    this.#sweepers = new Map(shards.map((shard) => [shard, new Sweeper(shard, report)]))
  }

  whenWentBack(listener: (lost: LostEnd) => Promise<void>): void {
    const compare = async (shard: Shard): Promise<void> => {
      for (const lost of await shard.lostEnds()) {
        await listener(lost)
        shard.forget(lost.session)
      }
    }
    for (const shard of this.#shards) shard.timeline.whenPromoted(() => void compare(shard).catch(this.#report))
  }

  get timeline(): Timeline {
    const [first] = this.#shards
    return first?.timeline ?? fail('INTERNAL_ERROR', {}, new Error('a journal without a database'))
  }

  async drafters(): Promise<readonly string[]> {
    return [...new Set((await Promise.all(this.#shards.map((shard) => shard.drafters()))).flat())]
  }

  async disown(boot: string): Promise<void> {
    await Promise.all(this.#shards.map((shard) => shard.disown(boot)))
    for (const sweeper of this.#sweepers.values()) sweeper.begin()
  }

  async append(append: Append): Promise<void> {
    checkAppend(append)
    const { id } = append.row
    const shard = this.#of(id)
    await shard.inTurn(id, () => shard.append(append))
    this.#subscribers.appended(append.row)
  }

  async fork(source: SessionId, append: Append): Promise<void> {
    checkAppend(append)
    const { id } = append.row
    const from = this.#of(source)
    const to = this.#of(id)
    const fork = () => (from === to ? forkWithin(to, source, append) : forkAcross(from, source, { to, append }))
    await to.inTurn(id, fork)
    this.#subscribers.appended(append.row)
  }

  async importSession(pieces: AsyncIterable<readonly StoredEntry[]>, last: () => Append): Promise<void> {
    const placeOf = (id: SessionId) => this.#of(id)
    this.#subscribers.appended(await importInto(this.#of(''), { pieces, last, placeOf }))
  }

  async page(id: SessionId, from: Cursor, limits: PageLimits): Promise<readonly StoredEntry[]> {
    return this.#of(id).page(id, from, limits)
  }

  async find(id: SessionId, { from, text }: TextSearch, limits: PageLimits): Promise<FoundEntries> {
    const entries = await this.page(id, from, limits)
    return { entries: entries.filter(({ body }) => body.includes(text)), until: entries.at(-1)?.seq }
  }

  read(id: SessionId, from: Cursor, signal: Signal): AsyncIterable<readonly StoredEntry[]> {
    return follow((...asked) => this.page(...asked), this.#subscribers, { id, from, signal })
  }

  watch(listener: (change: SessionChange) => void): () => void {
    return this.#subscribers.watchList(listener)
  }

  async head(id: SessionId): Promise<SessionHead | undefined> {
    const stored = await this.#of(id).head(id)
    if (stored === undefined) return undefined
    const { row, snapshot } = stored
    return snapshot === undefined ? { row } : { row, snapshot }
  }

  async list(query: ListQuery): Promise<readonly SessionSummary[]> {
    this.#requireOpen()
    return mergedList(await Promise.all(this.#shards.map((shard) => listSessions(shard, query))), query)
  }

  async delete(id: SessionId): Promise<boolean> {
    const shard = this.#of(id)
    const existed = await shard.inTurn(id, () => shard.delete(id))
    if (existed) this.#subscribers.deleted(id)
    if (existed) this.#sweepers.get(shard)?.begin()
    return existed
  }

  async fitness(): Promise<readonly ShardFitness[]> {
    const asked = this.#shards.map(async (shard) => ({ found: await shard.fitness(), address: shard.shown }))
    return (await Promise.all(asked)).flatMap(({ found, address }) =>
      found === undefined ? [] : [{ ...found, address }],
    )
  }

  appendTimes(): AppendTimes | undefined {
    return appendTimesOf(this.#shards.flatMap(({ times }) => times))
  }

  sizes(): Promise<readonly ShardSize[]> {
    return Promise.all(this.#shards.map((shard) => shard.size()))
  }

  async waiting(): Promise<readonly string[]> {
    const asked = this.#shards.map(async (shard) => ((await shard.acknowledges()) ? [] : [shard.shown]))
    return (await Promise.all(asked)).flat()
  }

  async owner(id: SessionId): Promise<SessionOwner | undefined> {
    const stored = await this.#of(id).stored(id)
    return stored === undefined ? undefined : { epoch: stored.epoch, boot: stored.boot }
  }

  holds(id: SessionId): boolean {
    return this.#of(id).holds(id)
  }

  async claim(id: SessionId, seen: number): Promise<boolean> {
    const shard = this.#of(id)
    return shard.inTurn(id, () => shard.claim(id, seen))
  }

  async release(id: SessionId, to?: string): Promise<boolean> {
    const shard = this.#of(id)
    return shard.inTurn(id, () => shard.release(id, to))
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    this.#subscribers.wakeAll()
    return this.#closing
  }

  async #close(): Promise<void> {
    await Promise.all([...this.#sweepers.values()].map((sweeper) => sweeper.close()))
    await Promise.all(this.#shards.map((shard) => shard.close()))
  }

  #of(id: SessionId): Shard {
    this.#requireOpen()
    return shardOf(this.#shards, id)
  }

  #requireOpen(): void {
    if (this.#closing !== undefined) fail('JOURNAL_CLOSED', {})
  }
}

/** FNV-1a of the id: where a session is never changes. */
export function shardOf<Place>(shards: readonly Place[], id: SessionId): Place {
  let hash = 0x81_1c_9d_c5
  for (const byte of Buffer.from(id)) hash = Math.imul(hash ^ byte, 0x01_00_01_93) >>> 0
  const shard = shards[hash % shards.length]
  return shard ?? fail('INTERNAL_ERROR', {}, new Error('a journal without a database'))
}

function mergedList(lists: readonly (readonly SessionSummary[])[], { limit }: ListQuery): readonly SessionSummary[] {
  const [only] = lists
  if (lists.length === 1 && only !== undefined) return only
  const sorted = lists
    .flat()
    .toSorted((left, right) => right.updatedAt - left.updatedAt || (left.id < right.id ? -1 : 1))
  return sorted.slice(0, Math.max(0, limit))
}
