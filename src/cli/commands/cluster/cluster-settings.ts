/** The cluster of a command: its databases and its schema. */
import type { ClusterSettings, Config } from '../../../config/settings.ts'
import { clusterOf } from '../../../server/cluster/cluster-reading.ts'
import { configFor } from '../../configured.ts'
import type { CommandInput } from '../../runtime/command.ts'
import { textOption } from '../../runtime/options.ts'

export interface ClusterConfig {
  readonly config: Config
  readonly cluster: ClusterSettings
}

/** Throws CONFIG_INVALID where none is named. */
export async function clusterConfig({ options }: CommandInput): Promise<ClusterConfig> {
  const config = await configFor({ cluster: textOption(options, 'cluster') })
  return { config, cluster: clusterOf(config) }
}
