/** The journal of a server whose sessions are kept in PostgreSQL. Loaded only where a cluster is configured. */
import { mkdirSync } from 'node:fs'
import { systemClock } from '../../adapters/clock.ts'
import { type ShardFitness, openPostgresJournal } from '../../adapters/journal/postgres/postgres-journal.ts'
import { claimingJournal } from '../../adapters/journal/postgres/ownership/claiming-journal.ts'
import type { NodeRecord } from '../../adapters/journal/postgres/ownership/heartbeat.ts'
import {
  type PostgresOwnership,
  acquirePostgresOwnership,
} from '../../adapters/journal/postgres/ownership/postgres-ownership.ts'
import { takeLock } from '../../adapters/journal/sqlite/lock/lock.ts'
import type { OwnedJournal } from '../../adapters/journal/sqlite/sqlite-journal.ts'
import type { ClusterSettings, Config } from '../../config/settings.ts'
import { fail } from '../../errors/parley-error.ts'
import { serverInfo } from '../server-info.ts'

export interface ClusterOrder {
  /** Called for each node that serves while this one waits; absent: it does not wait. */
  readonly waits?: ((serving: NodeRecord) => void) | undefined
  readonly report: (error: unknown) => void
}

/** What an acknowledgement means in one database. */
export type DatabaseState = Pick<ShardFitness, 'address' | 'durability' | 'warnings'>

export interface ClusterJournal extends OwnedJournal {
  databases(): readonly DatabaseState[]
}

/**
 * Resolves when this process serves the cluster. The state directory, which has the log and the children of this machine, has one
 * process too. Throws STATE_IN_USE for either, and what keeps the databases from being used.
 */
export async function openClusterJournal(config: Config, order: ClusterOrder): Promise<ClusterJournal> {
  const cluster = config.cluster ?? fail('CONFIG_INVALID', { key: 'cluster', reason: 'it names no database' })
  mkdirSync(config.home, { recursive: true, mode: 0o700 })
  const lock = takeLock(config.home)
  try {
    const { journal, ownership } = await served(config, cluster, order)
    let closing: Promise<void> | undefined
    const close = async (): Promise<void> => {
      await journal.close()
      await ownership.release()
      lock.release()
    }
    const release = () => (closing ??= close())
    return {
      ...claimingJournal(journal, ownership),
      databases: () =>
        journal.fitness().map(({ address, durability, warnings }) => ({ address, durability, warnings })),
      close: release,
      ownership: { lost: ownership.lost, release },
    }
  } catch (error) {
    lock.release()
    throw error
  }
}

async function served(config: Config, { urls, schema, node, unsafe }: ClusterSettings, order: ClusterOrder) {
  const boot = systemClock.id()
  const shared = { schema, boot, clock: systemClock }
  const journal = await openPostgresJournal({ ...shared, urls, unsafe, report: order.report })
  let ownership: PostgresOwnership | undefined
  try {
    const record = {
      name: node,
      pid: process.pid,
      version: serverInfo.version,
      listen: config.listen.map(({ host, port }) => `${host}:${port}`),
      startedAt: systemClock.now(),
    }
    const [url = ''] = urls
    ownership = await acquirePostgresOwnership({ ...shared, url, record, ...(order.waits && { waits: order.waits }) })
    await journal.inherit()
    return { journal, ownership }
  } catch (error) {
    await ownership?.release()
    await journal.close()
    throw error
  }
}
