/** The requests that commands send to the nodes of a cluster. */
import type { Config } from '../../config/settings.ts'
import { localUser } from '../../edge/method-access.ts'
import { fail } from '../../errors/parley-error.ts'
import { askNode } from '../admin/admin-client.ts'
import { clusterNodes, clusterOf, nodeToken, nodesOf } from './cluster-reading.ts'
import { type ReachableNode, openNodeLink } from './links/node-link.ts'

/**
 * Asks the node that has the session to give it to the node `to`. Resolves once that is so; false where no node has it, so that
 * the one whose client wants it next takes it. Throws NODE_ABSENT and SESSION_NOT_FOUND.
 */
export async function moveSession(config: Config, session: string, to: string): Promise<boolean> {
  const { nodes, owner } = await nodesOf(clusterOf(config), session)
  const { boot } = newestOf(nodes, to)
  if (owner === undefined) return false
  if (owner.boot !== boot) await ask(config, owner, { method: '_parley/cluster/move', params: { session, node: boot } })
  return true
}

/** Resolves once the node has no session any more. Throws NODE_ABSENT. */
export async function drainNode(config: Config, name: string): Promise<void> {
  const nodes = await clusterNodes(clusterOf(config))
  await ask(config, newestOf(nodes, name), { method: '_parley/cluster/drain', params: {} })
}

/** Of two nodes of one name the older one has ended, and is not declared dead yet. Throws NODE_ABSENT. */
function newestOf<Node extends { readonly name: string; readonly startedAt: number | string }>(
  nodes: readonly Node[],
  wanted: string,
): Node {
  const named = nodes.filter(({ name }) => name === wanted)
  return (
    named.toSorted((left, right) => (left.startedAt < right.startedAt ? 1 : -1))[0] ??
    fail('NODE_ABSENT', { node: wanted })
  )
}

interface NodeOrder {
  readonly method: string
  readonly params: object
}

async function ask(config: Config, node: ReachableNode, { method, params }: NodeOrder): Promise<void> {
  const token = await nodeToken(clusterOf(config))
  const connect = () => openNodeLink(node, { token }, { principal: localUser('unix socket') })
  const { home, socket, clientToken } = config
  await askNode({ home, socket, clientToken, connect }, method, params)
}
