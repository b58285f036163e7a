/** `parley cluster check`: what an acknowledged entry survives. */
import { clusterFitness } from '../../../server/cluster/cluster-reading.ts'
import { printJson } from '../../output/json.ts'
import type { CommandInput } from '../../runtime/command.ts'
import { FAILED, OK } from '../../runtime/exit-codes.ts'
import { clusterConfig } from './cluster-settings.ts'
import { databaseLines, warningsOf } from './database-lines.ts'

export async function run(input: CommandInput): Promise<number> {
  const { cluster } = await clusterConfig(input)
  const databases = await clusterFitness(cluster)
  for (const database of databases) {
    const { address, durability, unsafe } = database
    const warnings = warningsOf(database).filter((one) => !unsafe.includes(one))
    if (input.options['json'] === true) printJson({ address, durability, warnings, unsafe })
    else
      process.stdout.write(
        databaseLines(database)
          .map((line) => `${line}\n`)
          .join(''),
      )
  }
  return databases.some(({ unsafe, isWaiting }) => unsafe.length > 0 || isWaiting) ? FAILED : OK
}
