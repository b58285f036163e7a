/** Which node of a cluster serves: one at a time. The others wait, and one of them takes over when it ends or is counted out. */
import { fail } from '../../../../errors/parley-error.ts'
import type { Clock } from '../../../../ports/clock.ts'
import type { Ownership } from '../../../../ports/ownership.ts'
import { parseAddress } from '../connection/address.ts'
import { Connection } from '../connection/connection.ts'
import { journalError, mayCome, outcomeOf } from '../connection/outcome.ts'
import { Heartbeat, type Node, type NodeRecord } from './heartbeat.ts'
import { type NodeStatements, nodeStatementsOf } from './node-statements.ts'

export interface PostgresOwnershipOptions {
  /** Of the first database. */
  readonly url: string
  readonly schema: string
  /** Names this process for ever; the journal's too. */
  readonly boot: string
  readonly clock: Clock
  readonly record: NodeRecord
  /** Called once for each node that serves while this one waits. Absent: it does not wait. */
  readonly waits?: (serving: NodeRecord) => void
}

export interface PostgresOwnership extends Ownership {
  /** Resolves while no other node can serve; where one may, not before it is known. Throws when one does. */
  certain(): Promise<void>
}

/** Throws STATE_IN_USE while another node serves, if it is not to wait, and CLUSTER_UNREACHABLE. */
export async function acquirePostgresOwnership(options: PostgresOwnershipOptions): Promise<PostgresOwnership> {
  const { url, schema, boot, clock } = options
  const address = parseAddress(url)
  const connect = () => new Connection({ address, clock, connected: () => undefined })
  const connections = { beats: connect(), asks: connect() }
  const statements = nodeStatementsOf(schema)
  const close = () => Promise.all([connections.beats.close(), connections.asks.close()])
  let heartbeat: Heartbeat | undefined
  try {
    const shared = { statements, boot, clock, record: options.record, shown: address.shown }
    heartbeat = await Heartbeat.begin({ ...shared, connection: connections.beats })
    const place = new OwnersPlace(connections.asks, statements, heartbeat)
    await becomeOwner(place, heartbeat, { ...options, shown: address.shown })
    return owned(place, heartbeat, close)
  } catch (error) {
    await heartbeat?.end()
    await close()
    throw journalError(error, address.shown)
  }
}

interface Waiting extends PostgresOwnershipOptions {
  readonly shown: string
}

/** The one place that can be owned. */
class OwnersPlace {
  readonly #connection: Connection
  readonly #statements: NodeStatements
  readonly #heartbeat: Heartbeat

  constructor(connection: Connection, statements: NodeStatements, heartbeat: Heartbeat) {
    this.#connection = connection
    this.#statements = statements
    this.#heartbeat = heartbeat
  }

  /** The boot of the last owner, also of one that is gone; empty where there is none. */
  async owner(): Promise<string> {
    const { rows } = await this.#connection.query(this.#statements.owner, [])
    return rows[0]?.[0] ?? ''
  }

  /** Undefined where it is gone or counted out. */
  async living(boot: string): Promise<Node | undefined> {
    return (await this.#heartbeat.living()).find((node) => node.boot === boot)
  }

  /** False when another was faster. */
  async take(seen: string): Promise<boolean> {
    const { boot } = this.#heartbeat
    const { rows } = await this.#connection.query(this.#statements.own, [boot, seen])
    if (rows.length === 0) return false
    await this.#connection.query(this.#statements.clear, [])
    return true
  }

  async leave(): Promise<void> {
    // Without it the next owner counts this node out first.
    await this.#connection.query(this.#statements.own, ['', this.#heartbeat.boot], 5_000).catch(() => undefined)
  }
}

async function becomeOwner(place: OwnersPlace, heartbeat: Heartbeat, options: Waiting): Promise<void> {
  let reported = ''
  for (;;) {
    try {
      const serving = await serves(place, heartbeat)
      if (serving === undefined) return
      if (options.waits === undefined) failInUse(serving, options.shown)
      if (reported !== serving.boot) options.waits(serving)
      reported = serving.boot
    } catch (error) {
      // A node that waits waits for the database too.
      if (options.waits === undefined || !mayCome(outcomeOf(error))) throw error
      await heartbeat.next()
    }
  }
}

function failInUse({ name, pid }: Node, path: string): never {
  return fail('STATE_IN_USE', { path, pid, node: name })
}

/** The living node that serves; undefined when it is this one from now on. */
async function serves(place: OwnersPlace, heartbeat: Heartbeat): Promise<Node | undefined> {
  for (;;) {
    const owner = await place.owner()
    // A first attempt whose answer was lost.
    if (owner === heartbeat.boot) return undefined
    const serving = owner === '' ? undefined : await place.living(owner)
    if (serving === undefined) {
      if (await place.take(owner)) return undefined
    } else if (await moves(place, heartbeat, serving)) return serving
  }
}

/** Whether a node that was alive still is, once that is known. */
async function moves(place: OwnersPlace, heartbeat: Heartbeat, { boot, beat }: Node): Promise<boolean> {
  for (let renewals = 0; renewals < 6; renewals += 1) {
    await heartbeat.next()
    const now = await place.living(boot)
    if (now === undefined) return false
    if (now.beat !== beat) return true
  }
  return true
}

function owned(place: OwnersPlace, heartbeat: Heartbeat, close: () => Promise<unknown>): PostgresOwnership {
  let releasing: Promise<void> | undefined
  async function release(): Promise<void> {
    await place.leave()
    await heartbeat.end()
    await close()
  }
  return {
    lost: heartbeat.lost,
    certain: () => heartbeat.certain(),
    release: () => (releasing ??= release()),
  }
}
