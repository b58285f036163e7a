/** `parley mcp trust`: the user agrees to exactly what a project's file says of one server. */
import { allow } from '../../../config/mcp/edit-trust.ts'
import { dangerOf } from '../../../config/mcp/danger.ts'
import { configFor } from '../../configured.ts'
import { readMcpFiles } from '../../../config/mcp/server-files.ts'
import type { McpEntry, McpPlace } from '../../../config/mcp/mcp-servers.ts'
import { variablesIn } from '../../../config/files/variables.ts'
import type { CommandInput } from '../../runtime/command.ts'
import { FAILED, OK } from '../../runtime/exit-codes.ts'
import { oneLine } from '../../output/terminal/text.ts'
import { complain } from '../../say.ts'

const MAX_LENGTH = 2000

export async function run({ args: [name = ''] }: CommandInput): Promise<number> {
  const config = await configFor()
  const { servers } = readMcpFiles(config, process.cwd())
  const found = servers.find(({ entry, from }) => entry.name === name && from === 'project')
  if (found === undefined) {
    complain(`no .parley.toml of this directory has an MCP server ${JSON.stringify(name)}`)
    return FAILED
  }
  allow(config.home, found.digest, { file: found.file, name })
  const { place, login } = found.entry
  const what = place === undefined ? 'only rules' : whole(place)
  process.stdout.write(`Allowed ${oneLine(name, 80)} of ${found.file}, until it says something else: ${what}\n`)
  for (const danger of dangersOf(place, login))
    process.stdout.write(`Careful: ${danger}. If you did not know that: parley mcp rm ${oneLine(name, 80)}\n`)
  return OK
}

function dangersOf(place: McpPlace | undefined, login: McpEntry['login']): readonly string[] {
  const danger = place?.type === 'stdio' ? dangerOf(place.command, place.args) : undefined
  const variables = variablesIn({ place, login })
  const given =
    variables.length === 0 ? [] : [`it is given ${oneLine(variables.join(', '), MAX_LENGTH)} of your environment`]
  return [...(danger === undefined ? [] : [danger]), ...given]
}

/** Nothing of it is the user's secret, and all of it is what was agreed to. */
function whole(place: McpPlace): string {
  if (place.type !== 'stdio') {
    const headers = Object.entries(place.headers).map(([name, value]) => `${name}: ${value}`)
    return oneLine([place.url, ...headers].join(', '), MAX_LENGTH)
  }
  const variables = Object.entries(place.env).map(([name, value]) => `${name}=${value}`)
  return oneLine([...variables, place.command, ...place.args].join(' '), MAX_LENGTH)
}
