/** The journal of a server whose sessions are kept in PostgreSQL, and its place among the nodes. Loaded only where a cluster is configured. */
import { randomBytes } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { systemClock } from '../../adapters/clock.ts'
import { ChangesElsewhere } from '../../adapters/journal/postgres/ownership/changes-elsewhere.ts'
import { claimingJournal } from '../../adapters/journal/postgres/ownership/claiming-journal.ts'
import {
  type PostgresOwnership,
  acquirePostgresOwnership,
} from '../../adapters/journal/postgres/ownership/postgres-ownership.ts'
import { SessionClaims } from '../../adapters/journal/postgres/ownership/session-claims.ts'
import {
  type PostgresJournal,
  type ShardFitness,
  openPostgresJournal,
} from '../../adapters/journal/postgres/postgres-journal.ts'
import { takeLock } from '../../adapters/journal/sqlite/lock/lock.ts'
import type { OwnedJournal } from '../../adapters/journal/sqlite/sqlite-journal.ts'
import type { RemoteAccess } from '../../config/listen.ts'
import type { ClusterSettings, Config } from '../../config/settings.ts'
import { fail, isParleyError } from '../../errors/parley-error.ts'
import type { SessionOwnership } from '../../ports/ownership.ts'
import { ClusterNode, type ClusterTables } from './cluster-node.ts'
import { openListener } from './links/open-listener.ts'
import { requireOwnName } from './links/own-name.ts'
import { recordOf } from './node-record.ts'
import { suits } from './placement.ts'
import { SharedCredentials } from './shared-credentials.ts'

export interface ClusterOrder {
  /** How the other nodes come in; absent: they cannot. */
  readonly access?: RemoteAccess | undefined
  readonly report: (error: unknown) => void
}

const startedAt = systemClock.now()

const SILENT = 'it has acknowledged nothing for some seconds: commands are paused, and prompts wait'

/** What an acknowledgement means in one database. */
export type DatabaseState = Pick<ShardFitness, 'address' | 'durability' | 'warnings'>

export interface ClusterJournal extends OwnedJournal {
  readonly claims: SessionOwnership
  readonly node: ClusterNode
  readonly credentials: SharedCredentials
  databases(): Promise<readonly DatabaseState[]>
}

/**
 * Resolves when this process is a node of the cluster. The state directory, which has the log and the children of this machine, has
 * one process. Throws STATE_IN_USE for that, and what keeps the databases from being used.
 */
export async function openClusterJournal(config: Config, order: ClusterOrder): Promise<ClusterJournal> {
  const cluster = config.cluster ?? fail('CONFIG_INVALID', { key: 'cluster', reason: 'it names no database' })
  mkdirSync(config.home, { recursive: true, mode: 0o700 })
  const lock = takeLock(config.home)
  let opened: OpenNode | undefined
  try {
    opened = await openNode(config, cluster, order)
    return journalOf(opened, () => lock.release())
  } catch (error) {
    await opened?.credentials.close()
    await opened?.ownership.release()
    await opened?.journal.close()
    lock.release()
    throw error
  }
}

interface OpenNode {
  readonly journal: PostgresJournal
  readonly ownership: PostgresOwnership
  readonly claims: SessionClaims
  readonly node: ClusterNode
  readonly credentials: SharedCredentials
}

function journalOf({ journal, ownership, claims, node, credentials }: OpenNode, unlock: () => void): ClusterJournal {
  const elsewhere = new ChangesElsewhere(journal, systemClock)
  let closing: Promise<void> | undefined
  async function close(): Promise<void> {
    node.close()
    await credentials.close()
    await elsewhere.close()
    // What this node does not own any more is claimed by the others at once; a row that it leaves behind is of no more use.
    if (!ownership.lost.aborted) await journal.disown(ownership.boot).catch(() => undefined)
    await journal.close()
    await ownership.release()
    unlock()
  }
  const release = () => (closing ??= close())
  return {
    ...claimingJournal(journal, { ownership, claims, elsewhere }),
    claims,
    node,
    credentials,
    databases: () => databasesOf(journal, ownership),
    close: release,
    ownership: { lost: ownership.lost, release },
  }
}

async function databasesOf(
  journal: PostgresJournal,
  { certainMs }: PostgresOwnership,
): Promise<readonly DatabaseState[]> {
  const databases = await journal.fitness()
  return databases.map(({ address, durability, warnings }, index) => {
    const isSilent = index === 0 && certainMs === 0
    return { address, durability, warnings: [...(isSilent ? [SILENT] : []), ...warnings] }
  })
}

async function openNode(config: Config, cluster: ClusterSettings, { access, report }: ClusterOrder): Promise<OpenNode> {
  const boot = systemClock.id()
  const { urls, schema, unsafe } = cluster
  const shared = { schema, boot, clock: systemClock, isReplicated: cluster.minDurability === 'replicated' }
  const listener = access && (await openListener(cluster, access, systemClock))
  const journal = await openPostgresJournal({ ...shared, urls, unsafe, report })
  let ownership: PostgresOwnership | undefined
  let credentials: SharedCredentials | undefined
  try {
    const [url = ''] = urls
    const purpose = { name: cluster.node, serves: cluster.serves, labels: cluster.labels }
    const address = listener?.addressOf(cluster.advertise ?? cluster.listen) ?? ''
    const inheriting = new Set<string>()
    const inherit = async (dead: string): Promise<void> => {
      if (inheriting.has(dead)) return
      inheriting.add(dead)
      const known = ownership?.others.find((other) => other.boot === dead)
      if (known !== undefined) void node?.links.warn(known)
      try {
        await journal.disown(dead)
        // Its clients find the sessions free.
        node?.links.cut(dead)
        claims?.orphaned()
        await ownership?.forget(dead)
      } finally {
        inheriting.delete(dead)
      }
    }
    let claims: SessionClaims | undefined
    let node: ClusterNode | undefined
    ownership = await acquirePostgresOwnership({
      ...shared,
      url,
      timeline: journal.timeline,
      record: () => recordOf(config, cluster, { address, startedAt, appendMs: journal.appendTimes(), ...node?.load }),
      renewed: (ms) => claims?.renewed(ms),
      silent: report,
      buried: (dead) => void inherit(dead).catch(report),
    })
    const others = ownership
    const takes = (cwd: string) => suits(purpose, { cwd }) || !others.others.some((other) => suits(other, { cwd }))
    claims = new SessionClaims(journal, { nodes: ownership, takes })
    await inheritDrafts(journal, ownership)
    const token = cluster.token ?? (await ownership.token(randomBytes(32).toString('base64url')))
    await requireOwnName(ownership, { name: cluster.node, token })
    credentials = await SharedCredentials.open({ ...shared, url, timeline: journal.timeline })
    await adoptFiles(credentials, config, report)
    credentials.follow()
    const located = claims
    const tables: ClusterTables = {
      locate: (session) => located.locate(session),
      nodes: ownership,
      timeline: journal.timeline,
      cwdOf: async (session) => (await journal.head(session))?.row.cwd,
      give: (session, to) => journal.release(session, to),
      disown: () => journal.disown(boot),
    }
    node = new ClusterNode({ purpose, clock: systemClock, token, listener, tables, report })
    const serving = node
    journal.whenWentBack((lost) => located.wentBack(lost))
    claims.whenWentBack(async (_session, error) => report(error))
    claims.whenLost((session) => serving.lost(session))
    claims.whenRenewed((ms) => serving.renewed(ms))
    return { journal, ownership, claims, node, credentials }
  } catch (error) {
    listener?.close()
    await credentials?.close()
    await ownership?.release()
    await journal.close()
    throw error
  }
}

/** What this machine had before it became a node. Files that cannot be used keep no node from serving. */
async function adoptFiles(
  credentials: SharedCredentials,
  { home }: Config,
  report: (error: unknown) => void,
): Promise<void> {
  try {
    await credentials.adoptFiles(home)
  } catch (error) {
    if (!isParleyError(error, 'TOKENS_UNUSABLE')) throw error
    report(error)
  }
}

/** What processes that are gone left half made. */
async function inheritDrafts(journal: PostgresJournal, ownership: PostgresOwnership): Promise<void> {
  for (const boot of await journal.drafters())
    if (boot !== ownership.boot && (await ownership.living(boot)) === undefined) await journal.disown(boot)
}
