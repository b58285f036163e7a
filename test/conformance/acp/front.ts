/** A node of a cluster that has no session itself: all are made at the other node, and reached through this one. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '../../../src/adapters/clock.ts'
import { initCluster } from '../../../src/adapters/journal/postgres/tables/init.ts'
import { socketPathOf } from '../../../src/config/socket.ts'
import { PostgresServer } from '../../postgres/server.ts'
import { type Place, type Transport, endServer, socketEnds, started } from './transport.ts'

/** No case works there, so no session is made on a node that serves only this. */
const NOWHERE = '/nowhere'
const SETTINGS = ['fsync=off', 'full_page_writes=off', 'max_connections=500']

interface Pair {
  readonly front: string
  readonly owner: string
}

/** The socket of the front. A case with settings of its own has two nodes of its own. */
export function throughAFront(): Transport {
  const directory = mkdtempSync(join(tmpdir(), 'conformance-front-'))
  let server: Promise<PostgresServer> | undefined
  const pairs = new Map<string, Promise<Pair>>()

  async function pairOf({ env }: Place): Promise<Pair> {
    server ??= PostgresServer.start(SETTINGS)
    const { url, schema } = await server.then((one) => ({ url: one.url, schema: one.schema() }))
    await initCluster({ urls: [url], schema }, systemClock.id())
    const [front, owner] = ['front', 'owner'].map((name) => join(directory, `${schema}-${name}`))
    if (front === undefined || owner === undefined) throw new Error('two names make two homes')
    const cluster = { PARLEY_CLUSTER: url, PARLEY_CLUSTER_SCHEMA: schema, PARLEY_CLUSTER_UNSAFE: 'true' }
    await started(owner, { ...env, ...cluster, PARLEY_NODE: 'owner' })
    await started(front, { ...env, ...cluster, PARLEY_NODE: 'front', PARLEY_CLUSTER_SERVES: NOWHERE })
    return { front, owner }
  }

  const nameOf = ({ directory: own, env }: Place): string => (Object.keys(env).length === 0 ? 'all' : own)

  async function end(name: string): Promise<void> {
    const pair = await pairs.get(name)
    pairs.delete(name)
    if (pair !== undefined) await Promise.all([endServer(pair.front), endServer(pair.owner)])
  }

  return {
    name: 'a front node of a cluster',
    scripted: true,
    manyClients: true,
    carriesBytes: true,
    async open(place) {
      const name = nameOf(place)
      const pair = pairs.get(name) ?? pairOf(place)
      pairs.set(name, pair)
      return socketEnds(socketPathOf((await pair).front))
    },
    introduction: ({ script }) => ({ _meta: { 'parley/agent': `script:${script}` } }),
    leave: async (place) => (nameOf(place) === 'all' ? undefined : end(nameOf(place))),
    async close() {
      await Promise.all([...pairs.keys()].map(end))
      await (await server)?.close()
      rmSync(directory, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}
