/** `parley docs ls`: the collections that were added. */
import { collectionRecords } from '../../../docs-search/collections/state.ts'
import { configFor } from '../../configured.ts'
import { jsonLine } from '../../output/json.ts'
import { oneLine } from '../../output/terminal/text.ts'
import type { CommandInput } from '../../runtime/command.ts'
import { OK } from '../../runtime/exit-codes.ts'

export async function run({ options }: CommandInput): Promise<number> {
  const { home } = await configFor()
  const records = await collectionRecords(home).all()
  for (const [name, { directory }] of records) {
    process.stdout.write(
      options['json'] === true ? `${jsonLine({ name, directory })}\n` : `${name}  ${oneLine(directory)}\n`,
    )
  }
  if (records.size === 0) process.stderr.write('No collection was added; parley docs add NAME DIR adds one.\n')
  return OK
}
