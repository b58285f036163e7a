/** `parley cluster move`: moves a session to another node. Its clients stay connected. */
import { moveSession } from '../../../server/cluster/ask-node.ts'
import type { CommandInput } from '../../runtime/command.ts'
import { FAILED, OK } from '../../runtime/exit-codes.ts'
import { complain } from '../../say.ts'
import { clusterConfig } from './cluster-settings.ts'

export async function run(input: CommandInput): Promise<number> {
  const { config } = await clusterConfig(input)
  const [session = '', node = ''] = input.args
  if (await moveSession(config, session, node)) {
    process.stdout.write(`Session ${session} is on the node ${node}.\n`)
    return OK
  }
  complain(
    `session ${session} was not moved: no node has it in memory, and the node whose client asks for it next takes it`,
  )
  return FAILED
}
