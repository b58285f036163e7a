/** `parley import FILE`: an exported session comes back, whole or not at all. */
import { resolve } from 'node:path'
import { configFor } from '../../configured.ts'
import { askToImport } from '../../../server/admin/admin-client.ts'
import { startServer } from '../../../server/launch/launch.ts'
import type { CommandInput } from '../../runtime/command.ts'
import { OK } from '../../runtime/exit-codes.ts'
import { printJson } from '../../output/json.ts'
import { progressLine } from '../../output/progress-line.ts'

export async function run({ args, options }: CommandInput): Promise<number> {
  const path = resolve(args[0] ?? '')
  const config = await configFor()
  const progress = progressLine(process.stderr)
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
