/** `parley cluster drain`: moves all sessions of a node to the others, so that it can be stopped. */
import { drainNode } from '../../../server/cluster/ask-node.ts'
import type { CommandInput } from '../../runtime/command.ts'
import { OK } from '../../runtime/exit-codes.ts'
import { clusterConfig } from './cluster-settings.ts'

export async function run(input: CommandInput): Promise<number> {
  const { config } = await clusterConfig(input)
  const [node = ''] = input.args
  await drainNode(config, node)
  process.stdout.write(`The node ${node} has no sessions any more and takes no new ones; stop it with: parley stop\n`)
  return OK
}
