/** `parley docs key add|ls|rm`: named keys, each for all collections or for some. */
import type { Config } from '../../../config/schema.ts'
import { addKey, keyRecords } from '../../../docs-search/collections/state.ts'
import { fail } from '../../../errors/parley-error.ts'
import type { CommandInput } from '../../runtime/command.ts'
import { textOption } from '../../runtime/options.ts'
import { jsonLine } from '../../output/json.ts'
import { words } from './words.ts'

export async function key(config: Config, { args, options }: CommandInput): Promise<number> {
  const [verb = '', ...rest] = args
  if (verb === 'add') return add(config, { args: rest, options })
  if (verb === 'ls') return list(config, { args: rest, options })
  if (verb === 'rm') return remove(config, { args: rest, options })
  return fail('CONFIG_INVALID', {
    key: 'parley docs key',
    value: JSON.stringify(verb),
    reason: 'it must be add, ls or rm',
  })
}

async function add({ home }: Config, { args, options }: CommandInput): Promise<number> {
  const [name] = words(args, ['NAME'])
  const collections = textOption(options, 'collections')
    ?.split(',')
    .map((one) => one.trim())
  const made = await addKey(keyRecords(home), name, collections)
  process.stdout.write(`${made}\n`)
  const what = collections === undefined ? 'every collection' : collections.join(', ')
  process.stderr.write(`Key ${name} opens ${what}. Only its hash is kept, so it is shown this once.\n`)
  return 0
}

async function list({ home }: Config, { args, options }: CommandInput): Promise<number> {
  words(args, [])
  const records = await keyRecords(home).all()
  for (const [name, { collections, created }] of records) {
    const line =
      options['json'] === true
        ? jsonLine({ name, ...(collections === undefined ? {} : { collections }), created })
        : `${name}  ${collections?.join(',') ?? 'every collection'}  ${created}`
    process.stdout.write(`${line}\n`)
  }
  if (records.size === 0) process.stderr.write('There are no named keys; parley docs key add NAME makes one.\n')
  return 0
}

async function remove({ home }: Config, { args }: CommandInput): Promise<number> {
  const [name] = words(args, ['NAME'])
  await keyRecords(home).remove(name)
  process.stdout.write(`Key ${name} opens nothing any more; running servers end its sessions.\n`)
  return 0
}
