/** Makes the tables of a cluster in its databases, and may be called again. */
import { Client } from 'pg'
import { fail, isParleyError } from '../../../../errors/parley-error.ts'
import { parseAddress } from '../connection/address.ts'
import { type Identity, identityOf, knownLayout, metaOf, quotedSchema, tablesOf } from './layout.ts'
import { journalError } from '../connection/outcome.ts'

const CONNECT_TIMEOUT_MS = 5_000

export interface ClusterPlace {
  /** One for each shard, in their order. */
  readonly urls: readonly string[]
  readonly schema: string
}

/** Answers the id of the cluster: `id`, if none was made before. Throws CLUSTER_FOREIGN where a database belongs elsewhere. */
export async function initCluster({ urls, schema }: ClusterPlace, id: string): Promise<string> {
  let cluster: string | undefined
  for (const [shard, url] of urls.entries()) {
    const identity = { layout: knownLayout, cluster: cluster ?? id, shard, shards: urls.length }
    cluster = await initShard({ url, schema }, identity, cluster !== undefined)
  }
  return cluster ?? id
}

interface ShardPlace {
  readonly url: string
  readonly schema: string
}

async function initShard({ url, schema }: ShardPlace, identity: Identity, isCertain: boolean): Promise<string> {
  const { urls, shown } = parseAddress(url)
  let client: Client | undefined
  try {
    client = await firstThatWrites(urls)
    for (const statement of tablesOf(schema)) await client.query(statement)
    for (const [name, value] of metaOf(identity))
      await client.query(
        `INSERT INTO ${quotedSchema(schema)}.meta (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING`,
        [name, value],
      )
    const { rows } = await client.query<[string, string]>({
      text: `SELECT name, value FROM ${quotedSchema(schema)}.meta`,
      rowMode: 'array',
    })
    return checkedCluster(identityOf(rows), identity, { shown, isCertain })
  } catch (error) {
    throw isParleyError(error) ? error : journalError(error, shown)
  } finally {
    await client?.end().catch(() => undefined)
  }
}

/** Throws why the last one did not. */
async function firstThatWrites(urls: readonly string[]): Promise<Client> {
  let refused: unknown
  for (const url of urls) {
    const client = new Client({ connectionString: url, connectionTimeoutMillis: CONNECT_TIMEOUT_MS })
    client.on('error', () => undefined)
    try {
      await client.connect()
      const { rows } = await client.query<{ readonly transaction_read_only: string }>('SHOW transaction_read_only')
      if (rows[0]?.transaction_read_only !== 'on') return client
      refused = new Error('the server takes no writes')
    } catch (error) {
      refused = error
    }
    await client.end().catch(() => undefined)
  }
  throw refused
}

interface Check {
  readonly shown: string
  /** The cluster's id is that of a shard before. */
  readonly isCertain: boolean
}

/** Answers the id of the cluster that the database belongs to. */
export function checkedCluster(found: Identity | undefined, wanted: Identity, { shown, isCertain }: Check): string {
  if (found === undefined) return fail('CLUSTER_ABSENT', { address: shown })
  if (found.layout > knownLayout) fail('JOURNAL_TOO_NEW', { path: shown, found: found.layout, known: knownLayout })
  const isPlaced = found.shard === wanted.shard && found.shards === wanted.shards
  if (!isPlaced || (isCertain && found.cluster !== wanted.cluster))
    fail('CLUSTER_FOREIGN', {
      address: shown,
      found: `${found.shard + 1} of ${found.shards} of cluster ${found.cluster}`,
      wanted: `${wanted.shard + 1} of ${wanted.shards}${isCertain ? ` of cluster ${wanted.cluster}` : ''}`,
    })
  return found.cluster
}
