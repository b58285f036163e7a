/** `parley mcp import`: the servers of another tool's `mcpServers`, into the user's own file. */
import { configFor } from '../../configured.ts'
import { addTable } from '../../../config/files/edit-tables.ts'
import { readMcpFiles } from '../../../config/mcp/server-files.ts'
import { importFile } from '../../../config/mcp/import-servers.ts'
import { userFile } from '../../../config/places.ts'
import { reasonOf } from '../../../errors/parley-error.ts'
import type { CommandInput } from '../../runtime/command.ts'
import { FAILED, OK } from '../../runtime/exit-codes.ts'
import { oneLine } from '../../output/terminal/text.ts'
import { complain } from '../../say.ts'

/** A server that cannot be imported does not stop the others. */
export async function run({ args: [path = ''] }: CommandInput): Promise<number> {
  const config = await configFor()
  const file = userFile(config.environment)
  const { servers } = readMcpFiles(config, process.cwd())
  const taken = new Set(servers.flatMap(({ entry, from }) => (from === 'user' ? [entry.name] : [])))
  const imported = await importFile(path)
  if (imported.length === 0) return refuse(`${path} names no MCP servers`)
  let code = OK
  for (const one of imported) {
    const { name } = one
    const without = 'leftOut' in one && one.leftOut.length > 0 ? `, without its ${one.leftOut.join(', ')}` : ''
    const refused = taken.has(name)
      ? 'it is there already'
      : 'wrong' in one
        ? one.wrong
        : add(file, { group: 'mcp', name }, one.table)
    if (refused === undefined) process.stdout.write(`${oneLine(`Added ${name}${without}.`, 300)}\n`)
    else code = refuse(`${JSON.stringify(name)} was not added: ${refused}`)
  }
  return code
}

function refuse(reason: string): number {
  complain(oneLine(reason, 500))
  return FAILED
}

/** Why it cannot be added. */
function add(...given: Parameters<typeof addTable>): string | undefined {
  try {
    addTable(...given)
    return undefined
  } catch (error) {
    return reasonOf(error)
  }
}
