/** `parley cluster move`: another node has the session from then on; its clients stay connected. */
import { moveSession } from '../../../server/cluster/ask-node.ts'
import type { CommandInput } from '../../runtime/command.ts'
import { OK } from '../../runtime/exit-codes.ts'
import { clusterConfig } from './settings.ts'

export async function run(input: CommandInput): Promise<number> {
  const { config } = await clusterConfig(input)
  const [session = '', node = ''] = input.args
  await moveSession(config, session, node)
  process.stdout.write(`Session ${session} is on the node ${node}.\n`)
  return OK
}
