/** `parley docs add NAME DIR`: a collection that every document server of this state directory serves. */
import { checkDirectories, collectionRecords } from '../../../docs-search/collections/state.ts'
import { configFor } from '../../configured.ts'
import type { CommandInput } from '../../runtime/command.ts'
import { OK } from '../../runtime/exit-codes.ts'
import { directoryFrom } from './directory.ts'

export async function run({ args: [name = '', argument = ''] }: CommandInput): Promise<number> {
  const { home } = await configFor()
  const directory = directoryFrom(argument)
  await checkDirectories([directory])
  await collectionRecords(home).add(name, { directory })
  process.stdout.write(`Collection ${name} is served from now on, also by servers that run already.\n`)
  return OK
}
