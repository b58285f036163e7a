/** `parley cluster import`: copies sessions that were kept on one machine into the cluster. */
import { resolve } from 'node:path'
import { importSessions } from '../../../server/cluster/copy-sessions.ts'
import type { CommandInput } from '../../runtime/command.ts'
import { textOption } from '../../runtime/options.ts'
import { tellCopied } from './copied.ts'
import { clusterConfig } from './cluster-settings.ts'

export async function run(input: CommandInput): Promise<number> {
  const { config, cluster } = await clusterConfig(input)
  const from = textOption(input.options, 'from')
  return tellCopied(await importSessions(cluster, from === undefined ? config.home : resolve(from)), input)
}
