/** `parley import FILE`: restores an exported session, whole or not at all. With `--from` it imports sessions of another tool. */
import { resolve } from 'node:path'
import { fail } from '../../../errors/parley-error.ts'
import { configFor } from '../../configured.ts'
import { startServer } from '../../../server/launch/launch.ts'
import { importAt } from './import-at.ts'
import type { CommandInput } from '../../runtime/command.ts'
import { OK } from '../../runtime/exit-codes.ts'
import { printJson } from '../../output/json.ts'
import { progressLine } from '../../output/progress-line.ts'

export async function run(input: CommandInput): Promise<number> {
  const { args, options } = input
  if (options['from'] !== undefined) return (await import('./session-files.ts')).run(input)
  if (options['all'] === true) return failOption('--from', '--all needs it')
  if (args[0] === undefined) return failOption('path', 'name the file of an exported session, or a tool with --from')
  const path = resolve(args[0])
  const config = await configFor()
  const progress = progressLine(process.stderr)
  try {
    if (config.server === undefined)
      await startServer({ ...config, program: process.argv[1] ?? '' }, (sentence) => progress.say(sentence))
    progress.say('Importing …')
    const imported = await importAt(config, path, { keepId: options['keepId'] === true })
    progress.done()
    if (options['json'] === true) printJson(imported)
    else process.stdout.write(`${imported.sessionId}\n`)
    return OK
  } finally {
    progress.done()
  }
}

function failOption(key: string, reason: string): never {
  return fail('CONFIG_INVALID', { key, value: 'absent', reason })
}
