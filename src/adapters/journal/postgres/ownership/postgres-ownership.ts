/** A node's membership in a cluster: it renews its heartbeat, sees which other nodes live, and learns when it was declared dead. */
import type { Clock } from '../../../../ports/clock.ts'
import type { Ownership } from '../../../../ports/ownership.ts'
import type { Signal } from '../../../../ports/values/signal.ts'
import { parseAddress } from '../connection/address.ts'
import { DatabaseConnection } from '../connection/connection.ts'
import type { Timeline } from '../connection/timeline.ts'
import { journalError } from '../connection/outcome.ts'
import { Heartbeat, type Node, type NodeRecord, livingNodes } from './heartbeat.ts'
import { type NodeStatements, nodeStatementsOf } from './node-statements.ts'

/** A node without a row may have been lost by a failover of the database: others wait as long as they would to count it out. */
const RENEWALS = 4

export interface PostgresOwnershipOptions {
  /** Of the first database. */
  readonly url: string
  readonly schema: string
  /** Names this process for ever; the journal's too. */
  readonly boot: string
  readonly clock: Clock
  /** Only a renewal that a synchronous standby has too is one. */
  readonly isReplicated?: boolean
  /** Of that database. */
  readonly timeline?: Timeline | undefined
  /** What the others see of this node, at each beat. */
  readonly record: () => NodeRecord
  /** At each renewal: no other node counts this one out for so many milliseconds. */
  readonly renewed: (ms: number) => void
  /** Once each time that no renewal was acknowledged for so long that this node is not certain any more. */
  readonly silent: (error: unknown) => void
  /**
   * This node has declared another one dead, or has found one that was declared dead some time ago: what it owned may be claimed. Called
   * again at each beat until `forget` was.
   */
  readonly buried: (boot: string) => void
}

/** Throws CLUSTER_UNREACHABLE. */
export async function acquirePostgresOwnership(options: PostgresOwnershipOptions): Promise<PostgresOwnership> {
  const { url, schema, clock, isReplicated = false, timeline } = options
  const address = parseAddress(url)
  const connect = () => new DatabaseConnection({ address, clock, isReplicated, timeline, connected: () => undefined })
  const [beats, asks] = [connect(), connect()]
  const statements = nodeStatementsOf(schema)
  try {
    const heartbeat = await Heartbeat.begin({ ...options, statements, connection: beats, shown: address.shown })
    return new PostgresOwnership(heartbeat, { statements, beats, asks })
  } catch (error) {
    await Promise.all([beats.close(), asks.close()])
    throw journalError(error, address.shown)
  }
}

interface Database {
  readonly statements: NodeStatements
  readonly beats: DatabaseConnection
  readonly asks: DatabaseConnection
}

export class PostgresOwnership implements Ownership {
  readonly #heartbeat: Heartbeat
  readonly #database: Database
  #releasing: Promise<void> | undefined

  constructor(heartbeat: Heartbeat, database: Database) {
    this.#heartbeat = heartbeat
    this.#database = database
  }

  get lost(): Signal {
    return this.#heartbeat.lost
  }

  get boot(): string {
    return this.#heartbeat.boot
  }

  /** Resolves while no other node can have counted this one out; where one may, not before it is known. Throws when one has. */
  certain(): Promise<void> {
    return this.#heartbeat.certain()
  }

  /** No other node counts this one out for so many milliseconds. */
  get certainMs(): number {
    return this.#heartbeat.certainMs
  }

  /** The other nodes that live, as of the last beat or look. */
  get others(): readonly Node[] {
    return this.#heartbeat.others
  }

  /** Reads who the others are now. */
  async look(): Promise<void> {
    const { asks, statements } = this.#database
    this.#heartbeat.saw(await livingNodes(asks, statements))
  }

  /** The node of this boot; undefined once nothing that it owned is its own any more. */
  async living(boot: string): Promise<Node | undefined> {
    const known = this.others.find((node) => node.boot === boot)
    if (known !== undefined) return known
    for (let absent = 0; absent < RENEWALS; absent += 1) {
      const { rows } = await this.#database.asks.query(this.#database.statements.nodes, [])
      const row = rows.find(([other]) => other === boot)
      if (row !== undefined)
        return row[2] === 't'
          ? undefined
          : { ...(JSON.parse(row[3] ?? '{}') as NodeRecord), boot, beat: Number(row[1]) }
      await this.#heartbeat.next()
    }
    return undefined
  }

  /** A dead node that owns nothing any more. */
  async forget(boot: string): Promise<void> {
    await this.#database.asks.query(this.#database.statements.forget, [boot])
  }

  /** By which the nodes of this cluster know each other: the one that the first of them offered. */
  async token(offered: string): Promise<string> {
    const { asks, statements } = this.#database
    const known = async () => (await asks.query(statements.token, [])).rows[0]?.[0] ?? undefined
    const token = await known()
    if (token !== undefined) return token
    await asks.query(statements.offer, [offered])
    return (await known()) ?? offered
  }

  release(): Promise<void> {
    this.#releasing ??= this.#release()
    return this.#releasing
  }

  async #release(): Promise<void> {
    await this.#heartbeat.end()
    await Promise.all([this.#database.beats.close(), this.#database.asks.close()])
  }
}
