/** `parley cluster init`: makes the tables, and may be run again. */
import { makeCluster } from '../../../server/cluster/cluster-reading.ts'
import { printJson } from '../../output/json.ts'
import type { CommandInput } from '../../runtime/command.ts'
import { OK } from '../../runtime/exit-codes.ts'
import { clusterConfig } from './cluster-settings.ts'

export async function run(input: CommandInput): Promise<number> {
  const { cluster } = await clusterConfig(input)
  const id = await makeCluster(cluster)
  if (input.options['json'] === true) printJson({ cluster: id })
  else process.stdout.write(`${id}\n`)
  return OK
}
