/** A node of a cluster that has no session itself: all are made at the other node, and reached through this one. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '../../../src/adapters/clock.ts'
import { initCluster } from '../../../src/adapters/journal/postgres/tables/init.ts'
import { socketPathOf } from '../../../src/config/socket.ts'
import { PostgresServer } from '../../postgres/server.ts'
import { freePort } from '../../fixtures/process/free-port.ts'
import {
  HASTE,
  type Place,
  type RemoteDoor,
  type Transport,
  agentInMeta,
  endServer,
  httpDoor,
  socketEnds,
  started,
  tokenFor,
  webSocketDoor,
} from './transport.ts'

/** No case works there, so no session is made on a node that serves only this. */
const NOWHERE = '/nowhere'
const SETTINGS = ['fsync=off', 'full_page_writes=off', 'max_connections=500']

interface Pair {
  readonly front: string
  readonly owner: string
  /** Where remote clients come in. */
  readonly port: number
  readonly token: string
}

/** Every way into the front. */
export function frontTransports(): readonly Transport[] {
  return [
    throughAFront('a front node of a cluster'),
    throughAFront('a front node, WebSocket', webSocketDoor),
    throughAFront('a front node, Streamable HTTP', httpDoor),
  ]
}

/** Without a door the socket of the front. A case with settings of its own has two nodes of its own. */
function throughAFront(name: string, door?: RemoteDoor): Transport {
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
    const [port, token] = [await freePort(), tokenFor(front)]
    const open = door === undefined ? {} : { ...HASTE, PARLEY_LISTEN: String(port) }
    await started(front, { ...env, ...cluster, ...open, PARLEY_NODE: 'front', PARLEY_CLUSTER_SERVES: NOWHERE })
    return { front, owner, port, token }
  }

  const nameOf = ({ directory: own, env }: Place): string => (Object.keys(env).length === 0 ? 'all' : own)

  async function end(key: string): Promise<void> {
    const pair = await pairs.get(key)
    pairs.delete(key)
    if (pair !== undefined) await Promise.all([endServer(pair.front), endServer(pair.owner)])
  }

  return {
    name,
    scripted: true,
    manyClients: true,
    carriesBytes: door === undefined,
    async open(place) {
      const key = nameOf(place)
      const pair = pairs.get(key) ?? pairOf(place)
      pairs.set(key, pair)
      const { front, port, token } = await pair
      return door === undefined ? socketEnds(socketPathOf(front)) : door(`ws://127.0.0.1:${port}/acp`, token)
    },
    introduction: agentInMeta,
    leave: async (place) => (nameOf(place) === 'all' ? undefined : end(nameOf(place))),
    async close() {
      await Promise.all([...pairs.keys()].map(end))
      await (await server)?.close()
      rmSync(directory, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}
