/** `parley mcp add NAME`: a server in the user's own parley.toml, here or on a remote server. */
import { isAbsolute, resolve } from 'node:path'
import type { Config } from '../../../config/settings.ts'
import type { Table } from '../../../config/tables.ts'
import { fail } from '../../../errors/parley-error.ts'
import { type AddedMcp, addMcp } from '../../../server/admin/mcp-configuration.ts'
import { configFor } from '../../configured.ts'
import { askRemote } from '../../remote/ask-remote.ts'
import type { CommandInput } from '../../runtime/command.ts'
import { OK, USAGE } from '../../runtime/exit-codes.ts'
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
  const table = tableOf(config, command, { url, options })
  const { file, danger } = await addTo(config, name, table)
  process.stdout.write(`Added ${oneLine(name, 80)} to ${file}. Sessions that are opened from now on have it.\n`)
  if (danger !== undefined) process.stdout.write(`Careful: ${danger}.\n`)
  return OK
}

/** Throws MCP_CONFIGURED and CONFIG_INVALID. */
export async function addTo(config: Config, name: string, table: Table): Promise<AddedMcp> {
  if (config.server === undefined) return addMcp(config, name, table)
  return askRemote(config, { method: '_parley/mcp/add', params: { name, table } })
}

function contradiction(command: readonly string[], url: string | undefined, options: Options): string | undefined {
  if (command.length === 0 && url === undefined) return 'give a command behind --, or a --url'
  if (command.length > 0 && url !== undefined) return 'give a command behind -- or a --url, not both'
  return options['sse'] === true && url === undefined ? '--sse goes with a --url' : undefined
}

interface Given {
  readonly url: string | undefined
  readonly options: Options
}

function tableOf(config: Config, [command, ...args]: readonly string[], { url, options }: Given): Table {
  const env = pairsOf('--env', textsOption(options, 'env'))
  const headers = pairsOf('--header', textsOption(options, 'header'))
  return {
    ...(command === undefined
      ? { url, ...(options['sse'] === true && { type: 'sse' }) }
      : { command: anywhere(config, command) }),
    ...(args.length > 0 && { args }),
    ...(Object.keys(env).length > 0 && { env }),
    ...(Object.keys(headers).length > 0 && { headers }),
  }
}

/** A relative path is resolved in the user's directory; for a remote server it is refused. A name is looked up on PATH by each session. */
function anywhere({ server }: Config, command: string): string {
  if (server === undefined) return command.includes('/') ? resolve(command) : command
  const reason = 'on a remote server it must be an absolute path there, or a name on its PATH'
  if (command.includes('/') && !isAbsolute(command))
    fail('CONFIG_INVALID', { key: 'command', value: JSON.stringify(command), reason })
  return command
}
