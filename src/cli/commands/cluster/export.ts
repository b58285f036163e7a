/** `parley cluster export`: copies the sessions of a cluster into a state directory of one machine. */
import { resolve } from 'node:path'
import { exportSessions } from '../../../server/cluster/copy-sessions.ts'
import type { CommandInput } from '../../runtime/command.ts'
import { tellCopied } from './copied.ts'
import { clusterConfig } from './cluster-settings.ts'

export async function run(input: CommandInput): Promise<number> {
  const { cluster } = await clusterConfig(input)
  return tellCopied(await exportSessions(cluster, resolve(input.args[0] ?? '')), input)
}
