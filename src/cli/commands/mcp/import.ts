/** `parley mcp import`: the servers of another tool's `mcpServers`, into the user's own file. */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { configFor } from '../../configured.ts'
import { addMcp } from '../../../config/mcp-edit.ts'
import { readMcpFiles } from '../../../config/mcp-files.ts'
import { importedFrom } from '../../../config/mcp-import.ts'
import { userFile } from '../../../config/places.ts'
import { reasonOf } from '../../../errors/parley-error.ts'
import { FAILED, OK } from '../../exit.ts'
import { oneLine } from '../../terminal/text.ts'
import { complain } from '../../say.ts'

/** One that cannot be taken keeps no other back. */
export async function importServers([path = '']: readonly string[]): Promise<number> {
  const config = await configFor()
  const file = userFile(config.environment)
  const { servers } = readMcpFiles(config, process.cwd())
  const taken = new Set(servers.flatMap(({ entry, from }) => (from === 'user' ? [entry.name] : [])))
  let code = OK
  for (const { name, table, leftOut } of importedFrom(path, readFileSync(resolve(path), 'utf8'))) {
    const outcome = taken.has(name) ? { refused: 'it is there already' } : add(file, name, table)
    const without = leftOut.length > 0 ? `, without its ${leftOut.join(', ')}` : ''
    if (outcome === undefined) process.stdout.write(`${oneLine(`Added ${name}${without}.`, 300)}\n`)
    else complain(oneLine(`${name} was not added: ${outcome.refused}`, 500))
    if (outcome !== undefined) code = FAILED
  }
  return code
}

function add(...given: Parameters<typeof addMcp>): { readonly refused: string } | undefined {
  try {
    addMcp(...given)
    return undefined
  } catch (error) {
    return { refused: reasonOf(error) }
  }
}
