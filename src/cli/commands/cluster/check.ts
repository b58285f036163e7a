/** `parley cluster check`: what survives of what is acknowledged. */
import { clusterFitness } from '../../../server/cluster/cluster-reading.ts'
import { printJson } from '../../output/json.ts'
import type { CommandInput } from '../../runtime/command.ts'
import { FAILED, OK } from '../../runtime/exit-codes.ts'
import { clusterConfig } from './cluster-settings.ts'

const WORDS = {
  replicated: 'replicated: what was acknowledged is on the disks of the primary and of a synchronous standby',
  disk: 'disk: what was acknowledged is on the disk of the primary',
  memory: 'memory: what was acknowledged last is lost when the database or its machine stops',
}

const WAITS = 'it acknowledges no change now: see whether the standby of its synchronous_standby_names is connected'

export async function run(input: CommandInput): Promise<number> {
  const { cluster } = await clusterConfig(input)
  const databases = await clusterFitness(cluster)
  for (const { address, durability, warnings: known, unsafe, isWaiting } of databases) {
    const warnings = isWaiting ? [WAITS, ...known] : known
    if (input.options['json'] === true) printJson({ address, durability, warnings, unsafe })
    else {
      process.stdout.write(`${address}\n  ${WORDS[durability]}\n`)
      for (const sentence of [...unsafe, ...warnings]) process.stdout.write(`  ${sentence}\n`)
    }
  }
  return databases.some(({ unsafe, isWaiting }) => unsafe.length > 0 || isWaiting) ? FAILED : OK
}
