/** `parley mcp add NAME`: a server in the user's own parley.toml. */
import { resolve } from 'node:path'
import { dangerOf } from '../../../config/mcp/danger.ts'
import { configFor } from '../../configured.ts'
import { addTable } from '../../../config/files/edit-tables.ts'
import type { Table } from '../../../config/tables.ts'
import { readMcpFiles } from '../../../config/mcp/server-files.ts'
import { userFile } from '../../../config/places.ts'
import type { CommandInput } from '../../runtime/command.ts'
import { FAILED, OK, USAGE } from '../../runtime/exit-codes.ts'
import { textOption, textsOption } from '../../runtime/options.ts'
import { complain } from '../../say.ts'
import { oneLine } from '../../output/terminal/text.ts'
import { pairsOf } from './words.ts'

type Options = CommandInput['options']

export async function run({ args: [name = '', ...command], options }: CommandInput): Promise<number> {
  const url = textOption(options, 'url')
  const wrong = contradiction(command, url, options)
  if (wrong !== undefined) {
    complain(wrong)
    return USAGE
  }
  const config = await configFor()
  const { servers } = readMcpFiles(config, process.cwd())
  if (servers.some(({ entry, from }) => entry.name === name && from === 'user')) {
    complain(`${name} is there already; parley mcp rm takes it away`)
    return FAILED
  }
  const file = userFile(config.environment)
  addTable(file, { group: 'mcp', name }, tableOf(command, url, options))
  process.stdout.write(`Added ${oneLine(name, 80)} to ${file}. Sessions that are opened from now on have it.\n`)
  const danger = dangerOf(command[0] ?? '', command.slice(1))
  if (danger !== undefined) process.stdout.write(`Careful: ${danger}.\n`)
  return OK
}

function contradiction(command: readonly string[], url: string | undefined, options: Options): string | undefined {
  if (command.length === 0 && url === undefined) return 'give a command behind --, or a --url'
  if (command.length > 0 && url !== undefined) return 'give a command behind -- or a --url, not both'
  return options['sse'] === true && url === undefined ? '--sse goes with a --url' : undefined
}

function tableOf([command, ...args]: readonly string[], url: string | undefined, options: Options): Table {
  const env = pairsOf('--env', textsOption(options, 'env'))
  const headers = pairsOf('--header', textsOption(options, 'header'))
  return {
    ...(command === undefined
      ? { url, ...(options['sse'] === true && { type: 'sse' }) }
      : { command: anywhere(command) }),
    ...(args.length > 0 && { args }),
    ...(Object.keys(env).length > 0 && { env }),
    ...(Object.keys(headers).length > 0 && { headers }),
  }
}

/** A path counts from where the user types it; a name is looked up on PATH by each session. */
function anywhere(command: string): string {
  return command.includes('/') ? resolve(command) : command
}
