/** `parley docs key add NAME`: makes a named key, for all collections or for some. */
import { addKey, keyRecords } from '../../../docs-search/collections/state.ts'
import { configFor } from '../../configured.ts'
import type { CommandInput } from '../../runtime/command.ts'
import { OK } from '../../runtime/exit-codes.ts'
import { textOption } from '../../runtime/options.ts'

export async function run({ args: [name = ''], options }: CommandInput): Promise<number> {
  const { home } = await configFor()
  const collections = textOption(options, 'collections')
    ?.split(',')
    .map((one) => one.trim())
  const key = await addKey(keyRecords(home), name, collections)
  process.stdout.write(`${key}\n`)
  const opened = collections === undefined ? 'every collection' : collections.join(', ')
  process.stderr.write(`Key ${name} opens ${opened}. Only its hash is kept, so it is shown this once.\n`)
  return OK
}
