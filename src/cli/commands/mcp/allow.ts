/** `parley mcp allow`: the user agrees to exactly what a project's file says of one server. */
import { allow } from '../../../config/consent-edit.ts'
import { dangerOf } from '../../../config/danger.ts'
import { configFor } from '../../configured.ts'
import { readMcpFiles } from '../../../config/mcp-files.ts'
import type { McpPlace } from '../../../config/mcp.ts'
import { FAILED, OK } from '../../exit.ts'
import { oneLine } from '../../terminal/text.ts'

const LONGEST = 2000

export async function allowServer([name = '']: readonly string[]): Promise<number> {
  const config = await configFor()
  const { servers } = readMcpFiles(config, process.cwd())
  const found = servers.find(({ entry, from }) => entry.name === name && from === 'project')
  if (found === undefined) {
    process.stderr.write(`parley: no .parley.toml of this directory has an MCP server ${JSON.stringify(name)}\n`)
    return FAILED
  }
  allow(config.home, found.digest, { file: found.file, name })
  const { place } = found.entry
  const what = place === undefined ? 'only rules' : whole(place)
  process.stdout.write(`Allowed ${oneLine(name, 80)} of ${found.file}, until it says something else: ${what}\n`)
  const danger = place?.type === 'stdio' ? dangerOf(place.command, place.args) : undefined
  if (danger !== undefined)
    process.stdout.write(`Careful: ${danger}. If you did not know that: parley mcp rm ${oneLine(name, 80)}\n`)
  return OK
}

/** Nothing of it is the user's secret, and all of it is what was agreed to. */
function whole(place: McpPlace): string {
  if (place.type !== 'stdio') return oneLine(place.url, LONGEST)
  const variables = Object.entries(place.env).map(([name, value]) => `${name}=${value}`)
  return oneLine([...variables, place.command, ...place.args].join(' '), LONGEST)
}
