/** `parley docs key rm NAME`: removes a named key. */
import { keyRecords } from '../../../docs-search/collections/state.ts'
import { configFor } from '../../configured.ts'
import type { CommandInput } from '../../runtime/command.ts'
import { OK } from '../../runtime/exit-codes.ts'

export async function run({ args: [name = ''] }: CommandInput): Promise<number> {
  const { home } = await configFor()
  await keyRecords(home).remove(name)
  process.stdout.write(`Key ${name} opens nothing any more; running servers end its sessions.\n`)
  return OK
}
