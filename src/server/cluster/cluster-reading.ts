/** What commands read of a cluster without being a node. */
import { systemClock } from '../../adapters/clock.ts'
import { parseAddress } from '../../adapters/journal/postgres/connection/address.ts'
import { readNodeToken, readNodes } from '../../adapters/journal/postgres/ownership/read-nodes.ts'
import { type ShardFitness, openPostgresJournal } from '../../adapters/journal/postgres/postgres-journal.ts'
import { initCluster } from '../../adapters/journal/postgres/tables/init.ts'
import type { ShardSize } from '../../adapters/journal/postgres/shard.ts'
import type { JournalReader } from '../../adapters/journal/sqlite/sqlite-journal.ts'
import type { ClusterSettings, Config } from '../../config/settings.ts'
import { fail } from '../../errors/parley-error.ts'
import type { ReachableNode } from './links/node-link.ts'
import { SharedCredentials } from './shared-credentials.ts'

/** Throws CONFIG_INVALID where none is configured. */
export function clusterOf({ cluster }: Config): ClusterSettings {
  const reason = 'it names no database; set PARLEY_CLUSTER, or add --cluster postgres://USER@HOST/DATABASE'
  return cluster ?? fail('CONFIG_INVALID', { key: 'cluster', reason })
}

async function open({ urls, schema, unsafe }: ClusterSettings) {
  const given = { urls, schema, unsafe, boot: systemClock.id(), clock: systemClock, report: () => undefined }
  return openPostgresJournal(given)
}

export async function openClusterReader(settings: ClusterSettings): Promise<JournalReader> {
  const journal = await open(settings)
  return {
    page: (id, from, limits) => journal.page(id, from, limits),
    find: (id, wanted, limits) => journal.find(id, wanted, limits),
    head: (id) => journal.head(id),
    list: (query) => journal.list(query),
    check: async () => [],
    close: () => journal.close(),
  }
}

/** Makes the tables; answers the id of the cluster. */
export function makeCluster({ urls, schema }: ClusterSettings): Promise<string> {
  return initCluster({ urls, schema }, systemClock.id())
}

export interface CheckedDatabase extends ShardFitness, ShardSize {
  /** It acknowledges no change now. */
  readonly isWaiting: boolean
}

/** What an acknowledgement means in each database. Throws what keeps one from being used. */
export async function clusterFitness(settings: ClusterSettings): Promise<readonly CheckedDatabase[]> {
  const journal = await open(settings)
  try {
    const [waiting, sizes] = [await journal.waiting(), await journal.sizes()]
    return (await journal.fitness()).map((one, index) => {
      const { sessions = 0, bytes = 0, transactionSeconds = 0 } = sizes[index] ?? {}
      const unsafe = [...one.unsafe, ...tooWeak(settings, one)]
      const isWaiting = waiting.includes(one.address)
      return Object.assign(one, { unsafe, sessions, bytes, transactionSeconds, isWaiting })
    })
  } finally {
    await journal.close()
  }
}

function tooWeak({ minDurability }: ClusterSettings, { durability }: ShardFitness): readonly string[] {
  const isEnough = minDurability === 'disk' || durability === 'replicated'
  return isEnough ? [] : ['cluster_min_durability asks for replicated, so nodes store nothing here']
}

export interface ListedNode {
  readonly name: string
  readonly pid: number
  readonly version: string
  readonly listen: readonly string[]
  readonly startedAt: string
  /** Where the other nodes reach it. */
  readonly address: string
  /** Sessions in its memory, and how many of these are at work. */
  readonly sessions: number
  readonly working: number
  /** Milliseconds of its last appends; absent before the first. */
  readonly appendMs?: { readonly p50: number; readonly p99: number } | undefined
  /** It gives its sessions away and takes no new ones. */
  readonly isDraining: boolean
  /** Patterns of the directories whose sessions it takes; absent: every directory. */
  readonly serves?: readonly string[]
  readonly labels?: Readonly<Record<string, string>>
}

/** Those that are not declared dead. A node that has just died is among them. */
export async function clusterNodes(cluster: ClusterSettings): Promise<readonly ListedNode[]> {
  const nodes = await readNodes(placeOf(cluster))
  return nodes.map(({ boot: _boot, beat: _beat, startedAt, ...node }) =>
    Object.assign(node, { startedAt: new Date(startedAt).toISOString() }),
  )
}

/** A node that says which process it is: after a restart there are two of one name for a moment. */
export interface KnownNode extends ReachableNode {
  readonly boot: string
  readonly startedAt: number
}

/** The nodes that live, and the one of them that has the session; undefined where none has. Throws SESSION_NOT_FOUND. */
export async function nodesOf(
  cluster: ClusterSettings,
  session: string,
): Promise<{ readonly nodes: readonly KnownNode[]; readonly owner: KnownNode | undefined }> {
  const journal = await open(cluster)
  try {
    const owner = (await journal.owner(session)) ?? fail('SESSION_NOT_FOUND', { session })
    const nodes = await readNodes(placeOf(cluster))
    return { nodes, owner: nodes.find(({ boot }) => boot === owner.boot) }
  } finally {
    await journal.close()
  }
}

/** Those of all its nodes. Throws CLUSTER_UNREACHABLE and CLUSTER_ABSENT. */
export function openClusterCredentials(cluster: ClusterSettings): Promise<SharedCredentials> {
  return SharedCredentials.open({ ...placeOf(cluster), isReplicated: cluster.minDurability === 'replicated' })
}

/** By which the nodes know each other. */
export async function nodeToken(cluster: ClusterSettings): Promise<string> {
  return cluster.token ?? readNodeToken(placeOf(cluster))
}

/** Without passwords. */
export function shownDatabases({ urls }: ClusterSettings): string {
  return urls.map((url) => parseAddress(url).shown).join(' ')
}

function placeOf({ urls: [url = ''], schema }: ClusterSettings) {
  return { url, schema, clock: systemClock }
}
