/** Renews the heartbeat of this node each second, by compare-and-set on its row, and declares nodes dead that do not renew theirs. */
import { ParleyError } from '../../../../errors/parley-error.ts'
import type { Clock } from '../../../../ports/clock.ts'
import type { AbortSource, Signal } from '../../../../ports/values/signal.ts'
import type { AppendTimes } from '../append-times.ts'
import type { DatabaseConnection } from '../connection/connection.ts'
import { DeathCount, type SeenNode } from './death-count.ts'
import type { NodeStatements } from './node-statements.ts'

const BEAT_MS = 1_000
/** Less than the time in which others count this node out. */
const CERTAIN_MS = 2_500
/** An answer that does not come in this time is asked for on another connection. */
const ANSWER_MS = 5_000
/** A first change that is not acknowledged in this time waits for a standby that is not there. */
const ENTER_MS = 10_000
const COUNTED_OUT = 'the other nodes of the cluster have counted this node out'
const SILENT = 'it has acknowledged nothing for some seconds, and the commands of this node are paused until it does'
const HAS_LEFT = 'this node has left the cluster'

export interface NodeRecord {
  readonly name: string
  /** The process on its machine. */
  readonly pid: number
  readonly version: string
  /** Where it listens for remote clients. */
  readonly listen: readonly string[]
  /** Where it listens for the other nodes: `ws://HOST:PORT`. */
  readonly address: string
  readonly startedAt: number
  /** Sessions in its memory, and how many of these are at work. */
  readonly sessions: number
  readonly working: number
  /** Of its last appends; absent before the first. */
  readonly appendMs?: AppendTimes | undefined
  /** It gives its sessions away and takes no new ones. */
  readonly isDraining: boolean
  /** Patterns of the directories whose sessions it takes; absent: every directory. */
  readonly serves?: readonly string[]
  readonly labels?: Readonly<Record<string, string>>
}

export interface Node extends NodeRecord {
  readonly boot: string
  readonly beat: number
}

export interface HeartbeatOptions {
  /** Used for nothing else, so that no long statement is before a beat. */
  readonly connection: DatabaseConnection
  readonly statements: NodeStatements
  readonly boot: string
  readonly clock: Clock
  /** The address of the database. */
  readonly shown: string
  readonly record: () => NodeRecord
  /** No other node counts this one out for so many milliseconds. */
  readonly renewed: (ms: number) => void
  /** Other nodes may count this one out soon, because the database acknowledges nothing; once until it does again. */
  readonly silent: (error: unknown) => void
  /** This node has counted another one out. */
  readonly buried: (boot: string) => void
}

export class Heartbeat {
  readonly #options: HeartbeatOptions
  readonly #lost: AbortSource
  readonly #ended: AbortSource
  readonly #count = new DeathCount()
  /** Of those that are dead already: what they owned is given free in that time. */
  readonly #unfinished = new DeathCount()
  #beat = 1
  /** When the last renewal was sent that is known to be stored; on the monotonic clock. */
  #confirmed: number
  #waiting: { readonly resolve: () => void; readonly reject: (error: unknown) => void }[] = []
  #beating: Promise<void> | undefined
  #isSilent = false
  /** As they were at the last beat, or when they were read since. */
  #others: readonly Node[] = []

  /** Resolves when this node is in the table. */
  static async begin(options: HeartbeatOptions): Promise<Heartbeat> {
    const { connection, statements, boot, clock, shown } = options
    const began = clock.monotonicNow()
    const heartbeat = new Heartbeat(options, began)
    const record = options.record()
    const row = [`${record.name}/${boot.slice(0, 8)}`, boot, JSON.stringify(record)]
    try {
      await connection.query(statements.enter, row, ENTER_MS)
    } catch (error) {
      if (clock.monotonicNow() - began < ENTER_MS) throw error
      const reason = `it has acknowledged no change in ${ENTER_MS / 1_000} s; see whether the standby of its synchronous_standby_names is connected`
      throw new ParleyError('CLUSTER_UNREACHABLE', { address: shown, reason }, error)
    }
    heartbeat.#beating = heartbeat.#run()
    return heartbeat
  }

  private constructor(options: HeartbeatOptions, now: number) {
    this.#options = options
    this.#lost = options.clock.abortSource()
    this.#ended = options.clock.abortSource()
    this.#confirmed = now
  }

  /** Aborts when this node was declared dead: others may own what it owned. */
  get lost(): Signal {
    return this.#lost.signal
  }

  get boot(): string {
    return this.#options.boot
  }

  /** Whether no other node can have counted this one out by now. Costs nothing. */
  get isCertain(): boolean {
    return !this.lost.aborted && this.certainMs > 0
  }

  /** No other node counts this one out for so many milliseconds. */
  get certainMs(): number {
    return Math.max(0, this.#confirmed + CERTAIN_MS - this.#options.clock.monotonicNow())
  }

  /** Resolves at once, or with the next renewal that is confirmed. Throws once this node is declared dead, or has left. */
  async certain(): Promise<void> {
    while (!this.isCertain) await this.next()
  }

  /** Resolves after the next confirmed renewal. Throws once this node is declared dead, or has left. */
  next(): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.lost.aborted) reject(this.#isOut(COUNTED_OUT))
      else if (this.#ended.signal.aborted) reject(this.#isOut(HAS_LEFT))
      else this.#waiting.push({ resolve, reject })
    })
  }

  /** The other nodes that had not been declared dead when they were last read, which is at each beat. */
  get others(): readonly Node[] {
    return this.#others
  }

  saw(living: readonly Node[]): void {
    this.#others = living.filter((node) => node.boot !== this.boot)
  }

  /** Takes this node out of the table. */
  async end(): Promise<void> {
    this.#ended.abort()
    await this.#beating
    this.#refuseWaiting(HAS_LEFT)
    const { connection, statements, boot } = this.#options
    // Without it the others count this node out.
    await connection.query(statements.leave, [boot], ANSWER_MS).catch(() => undefined)
  }

  async #run(): Promise<void> {
    const { clock } = this.#options
    while (!this.#ended.signal.aborted && !this.lost.aborted) {
      const sent = clock.monotonicNow()
      try {
        await this.#renew(sent)
      } catch {
        // The database is away: no node renews, so none is declared dead. The next beat is another try.
      }
      this.#noteSilence()
      const pause = Math.max(0, BEAT_MS - (clock.monotonicNow() - sent))
      await clock.sleep(pause, this.#ended.signal).catch(() => undefined)
    }
  }

  #noteSilence(): void {
    const isSilent = !this.isCertain && !this.lost.aborted
    if (isSilent && !this.#isSilent) this.#options.silent(this.#isOut(SILENT))
    this.#isSilent = isSilent
  }

  async #renew(sent: number): Promise<void> {
    const { connection, statements, boot } = this.#options
    const values = [boot, this.#beat, JSON.stringify(this.#options.record())]
    const { rows, isHereOnly } = await connection.change(statements.beat, values, ANSWER_MS)
    if (rows[0] === undefined) return this.#findOut()
    this.#beat = Number(rows[0][0])
    // On one disk only: a failover may take it back.
    if (isHereOnly) return
    this.#confirmed = sent
    if (this.certainMs > 0) this.#options.renewed(this.certainMs)
    for (const { resolve } of this.#waiting.splice(0)) resolve()
    await this.#bury()
  }

  /** A renewal met another row than it expected. */
  async #findOut(): Promise<void> {
    const { connection, statements, boot } = this.#options
    const { rows } = await connection.query(statements.nodes, [], ANSWER_MS)
    const own = rows.find(([other]) => other === boot)
    // A renewal whose answer was lost was stored; or a failover has taken some back, and no other node has counted this one out there.
    if (own !== undefined && own[2] !== 't') this.#beat = Number(own[1])
    else {
      this.#lost.abort(COUNTED_OUT)
      this.#refuseWaiting(COUNTED_OUT)
    }
  }

  #refuseWaiting(reason: string): void {
    for (const { reject } of this.#waiting.splice(0)) reject(this.#isOut(reason))
  }

  #isOut(reason: string): ParleyError {
    return new ParleyError('CLUSTER_UNREACHABLE', { address: this.#options.shown, reason })
  }

  async #bury(): Promise<void> {
    const { connection, statements, buried } = this.#options
    const { living, dead } = await allNodes(connection, statements)
    this.saw(living)
    for (const silent of this.#count.renewed(this.#others)) {
      const { rows, isHereOnly } = await connection.change(statements.bury, [silent.boot, silent.beat], ANSWER_MS)
      // Without a row it has renewed meanwhile, or another node was faster. On one disk only, a failover may revive it.
      if (rows.length > 0 && !isHereOnly) buried(silent.boot)
    }
    // The node that counted it out has died too, or its answer was lost.
    for (const left of this.#unfinished.renewed(dead)) buried(left.boot)
  }
}

export async function livingNodes(
  connection: DatabaseConnection,
  statements: NodeStatements,
): Promise<readonly Node[]> {
  return (await allNodes(connection, statements)).living
}

async function allNodes(
  connection: DatabaseConnection,
  statements: NodeStatements,
): Promise<{ readonly living: readonly Node[]; readonly dead: readonly SeenNode[] }> {
  const { rows } = await connection.query(statements.nodes, [], ANSWER_MS)
  const nodes = rows.map(([boot, beat, dead, record]) => ({
    isDead: dead === 't',
    node: { ...(JSON.parse(record ?? '{}') as NodeRecord), boot: boot ?? '', beat: Number(beat) },
  }))
  const which = (wanted: boolean) => nodes.flatMap(({ isDead, node }) => (isDead === wanted ? [node] : []))
  return { living: which(false), dead: which(true) }
}
