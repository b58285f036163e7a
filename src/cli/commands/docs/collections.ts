/** `parley docs add|rm|ls`: the collections that every document server of this state directory serves. */
import { resolve } from 'node:path'
import type { Config } from '../../../config/schema.ts'
import { checkDirectories } from '../../../docs-search/collections/collections.ts'
import { collectionRecords } from '../../../docs-search/collections/state.ts'
import type { CommandInput } from '../../runtime/command.ts'
import { jsonLine } from '../../output/json.ts'
import { oneLine } from '../../output/terminal/text.ts'
import { words } from './words.ts'

export async function add({ home }: Config, { args }: CommandInput): Promise<number> {
  const [name, directory] = words(args, ['NAME', 'DIR'])
  await checkDirectories([resolve(directory)])
  await collectionRecords(home).add(name, { directory: resolve(directory) })
  process.stdout.write(`Collection ${name} is served from now on, also by servers that run already.\n`)
  return 0
}

export async function remove({ home }: Config, { args }: CommandInput): Promise<number> {
  const [name] = words(args, ['NAME'])
  await collectionRecords(home).remove(name)
  process.stdout.write(`Collection ${name} is not served any more; its directory stays as it is.\n`)
  return 0
}

export async function list({ home }: Config, { options }: CommandInput): Promise<number> {
  const records = await collectionRecords(home).all()
  for (const [name, { directory }] of records) {
    process.stdout.write(
      options['json'] === true ? `${jsonLine({ name, directory })}\n` : `${name}  ${oneLine(directory)}\n`,
    )
  }
  if (records.size === 0) process.stderr.write('No collection was added; parley docs add NAME DIR adds one.\n')
  return 0
}
