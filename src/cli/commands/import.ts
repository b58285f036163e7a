/** `parley import FILE`: an exported session comes back, whole or not at all. */
import { resolve } from 'node:path'
import { configFor } from '../configured.ts'
import { askToImport } from '../../server/ask.ts'
import { startServer } from '../../server/launch.ts'
import type { CommandInput } from '../command.ts'
import { OK } from '../exit.ts'
import { printJson } from '../json.ts'
import { passing } from '../passing.ts'

export async function run({ args, options }: CommandInput): Promise<number> {
  const path = resolve(args[0] ?? '')
  const config = await configFor()
  const progress = passing(process.stderr)
  try {
    await startServer({ ...config, program: process.argv[1] ?? '' }, (sentence) => progress.say(sentence))
    progress.say('Importing …')
    const imported = await askToImport(config, { path, keepId: options['keepId'] === true })
    progress.done()
    if (options['json'] === true) printJson(imported)
    else process.stdout.write(`${imported.sessionId}\n`)
    return OK
  } finally {
    progress.done()
  }
}
