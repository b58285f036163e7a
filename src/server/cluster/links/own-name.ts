/** Checks that no other live node has this node's name, because commands name a node by it. */
import { localUser } from '../../../edge/method-access.ts'
import { fail } from '../../../errors/parley-error.ts'
import { type ReachableNode, openNodeLink } from './node-link.ts'

interface OtherNodes {
  readonly others: readonly ReachableNode[]
  /** Reads who the others are now. */
  look(): Promise<void>
}

interface Named {
  readonly name: string
  /** The secret of the cluster. */
  readonly token: string
}

/** A node that was killed a moment ago stands in the table still, and does not answer. Throws NODE_NAME_TAKEN. */
export async function requireOwnName(nodes: OtherNodes, { name, token }: Named): Promise<void> {
  await nodes.look()
  const namesakes = nodes.others.filter((other) => other.name === name && other.address !== '')
  const links = namesakes.map((other) => openNodeLink(other, { token }, { principal: localUser('unix socket') }))
  for (const link of await Promise.allSettled(links)) {
    if (link.status === 'rejected') continue
    link.value.destroy()
    fail('NODE_NAME_TAKEN', { node: name })
  }
}
