/** `parley cluster status`: the nodes that live, as the database knows them. */
import type { ClusterSettings } from '../../../config/settings.ts'
import { isParleyError } from '../../../errors/parley-error.ts'
import { type ListedNode, clusterFitness, clusterNodes } from '../../../server/cluster/cluster-reading.ts'
import { printJson } from '../../output/json.ts'
import type { CommandInput } from '../../runtime/command.ts'
import { OK } from '../../runtime/exit-codes.ts'
import { clusterConfig } from './cluster-settings.ts'

export async function run(input: CommandInput): Promise<number> {
  const { cluster } = await clusterConfig(input)
  const nodes = await clusterNodes(cluster)
  for (const node of nodes) {
    const { name, pid, version, listen, sessions, working, isDraining } = node
    if (input.options['json'] === true) printJson(node)
    else
      process.stdout.write(
        `${name}  ${isDraining ? 'drains' : 'serves'}  ${working} of ${sessions} sessions at work  pid ${pid}  version ${version}${[...listen, ...purposeOf(node)].map((one) => `  ${one}`).join('')}\n`,
      )
  }
  if (input.options['json'] !== true) for (const line of await databasesOf(cluster)) process.stdout.write(`${line}\n`)
  if (nodes.length === 0)
    process.stderr.write('No node serves this cluster; start one with: parley serve --cluster ADDRESS\n')
  return OK
}

/** What an acknowledgement means in each database; where one is refused, why. */
async function databasesOf(cluster: ClusterSettings): Promise<readonly string[]> {
  try {
    const databases = await clusterFitness(cluster)
    return databases.map(({ address, durability, unsafe, warnings, isWaiting }) =>
      [address, isWaiting ? 'acknowledges no change now' : `durability: ${durability}`, ...unsafe, ...warnings].join(
        '  ',
      ),
    )
  } catch (error) {
    if (isParleyError(error)) return [error.message]
    throw error
  }
}

/** Which directories it serves, if not all, and its labels. */
function purposeOf({ serves = [], labels = {} }: ListedNode): readonly string[] {
  return [...serves, ...Object.entries(labels).map(([label, value]) => `${label}=${value}`)]
}
