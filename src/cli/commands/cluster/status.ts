/** `parley cluster status`: the nodes that live, as the database knows them. */
import { type ListedNode, clusterNodes } from '../../../server/cluster/cluster-reading.ts'
import { printJson } from '../../output/json.ts'
import type { CommandInput } from '../../runtime/command.ts'
import { OK } from '../../runtime/exit-codes.ts'
import { clusterConfig } from './settings.ts'

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
  if (nodes.length === 0)
    process.stderr.write('No node serves this cluster; start one with: parley serve --cluster ADDRESS\n')
  return OK
}

/** Which directories it serves, if not all, and its labels. */
function purposeOf({ serves = [], labels = {} }: ListedNode): readonly string[] {
  return [...serves, ...Object.entries(labels).map(([label, value]) => `${label}=${value}`)]
}
