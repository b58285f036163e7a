/** `parley docs rm NAME`: stops serving an added collection. */
import { collectionRecords } from '../../../docs-search/collections/state.ts'
import { configFor } from '../../configured.ts'
import type { CommandInput } from '../../runtime/command.ts'
import { OK } from '../../runtime/exit-codes.ts'

export async function run({ args: [name = ''] }: CommandInput): Promise<number> {
  const { home } = await configFor()
  await collectionRecords(home).remove(name)
  process.stdout.write(`Collection ${name} is not served any more; its directory stays as it is.\n`)
  return OK
}
