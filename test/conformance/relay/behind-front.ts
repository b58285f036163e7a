/** Makes a node of a cluster out of a state directory: all sessions of its clients are at another node, which is started here. */
import { join } from 'node:path'
import { systemClock } from '../../../src/adapters/clock.ts'
import { initCluster } from '../../../src/adapters/journal/postgres/tables/init.ts'
import { started } from '../acp/transport.ts'

/** The address of a PostgreSQL: then the tests of the relay have their sessions there. */
export const DATABASE = 'CONFORMANCE_CLUSTER'

/** No test works there, so no session is made on a node that serves only this. */
const NOWHERE = '/nowhere'

/** The node that has the sessions. */
export interface Owner {
  readonly home: string
  /** Again after it was killed. */
  start(): Promise<void>
}

/** Answers the environment of the front, and the owner, which serves; undefined for a server alone. */
export async function behindFront(
  home: string,
): Promise<{ readonly env: Readonly<Record<string, string>>; readonly owner: Owner } | undefined> {
  const url = process.env[DATABASE]
  if (url === undefined) return undefined
  const schema = `relay_${systemClock.id().replaceAll('-', '')}`
  await initCluster({ urls: [url], schema }, systemClock.id())
  const cluster = { PARLEY_CLUSTER: url, PARLEY_CLUSTER_SCHEMA: schema, PARLEY_CLUSTER_UNSAFE: 'true' }
  const owned = join(home, '..', 'owner')
  const owner = { home: owned, start: () => started(owned, { ...cluster, PARLEY_NODE: 'owner' }) }
  await owner.start()
  return { env: { ...cluster, PARLEY_NODE: 'front', PARLEY_CLUSTER_SERVES: NOWHERE }, owner }
}
