/** `parley docs key ls`: the named keys and their collections; never a key itself. */
import { keyRecords } from '../../../docs-search/collections/state.ts'
import { configFor } from '../../configured.ts'
import { jsonLine } from '../../output/json.ts'
import type { CommandInput } from '../../runtime/command.ts'
import { OK } from '../../runtime/exit-codes.ts'

export async function run({ options }: CommandInput): Promise<number> {
  const { home } = await configFor()
  const records = await keyRecords(home).all()
  for (const [name, { collections, created }] of records) {
    const line =
      options['json'] === true
        ? jsonLine({ name, ...(collections === undefined ? {} : { collections }), created })
        : `${name}  ${collections?.join(',') ?? 'every collection'}  ${created}`
    process.stdout.write(`${line}\n`)
  }
  if (records.size === 0) process.stderr.write('There are no named keys; parley docs key add NAME makes one.\n')
  return OK
}
