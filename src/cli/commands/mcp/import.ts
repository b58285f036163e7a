/** `parley mcp import`: the servers of another tool's `mcpServers`, into the user's own file. */
import { configFor } from '../../configured.ts'
import { importFile } from '../../../config/mcp/import-servers.ts'
import { isParleyError, reasonOf } from '../../../errors/parley-error.ts'
import type { CommandInput } from '../../runtime/command.ts'
import { FAILED, OK } from '../../runtime/exit-codes.ts'
import { oneLine } from '../../output/terminal/text.ts'
import { complain } from '../../say.ts'
import { addTo } from './add.ts'

/** A server that cannot be imported does not stop the others. */
export async function run({ args: [path = ''] }: CommandInput): Promise<number> {
  const config = await configFor()
  const imported = await importFile(path)
  if (imported.length === 0) return complainOfServer(`${path} names no MCP servers`)
  let code = OK
  for (const one of imported) {
    const { name } = one
    const without = 'leftOut' in one && one.leftOut.length > 0 ? `, without its ${one.leftOut.join(', ')}` : ''
    const refused = 'wrong' in one ? one.wrong : await reasonAgainst(() => addTo(config, name, one.table))
    if (refused === undefined) process.stdout.write(`${oneLine(`Added ${name}${without}.`, 300)}\n`)
    else code = complainOfServer(`${JSON.stringify(name)} was not added: ${refused}`)
  }
  return code
}

function complainOfServer(reason: string): number {
  complain(oneLine(reason, 500))
  return FAILED
}

/** Why it cannot be added. Throws where the remote server cannot be asked. */
async function reasonAgainst(add: () => Promise<unknown>): Promise<string | undefined> {
  try {
    await add()
    return undefined
  } catch (error) {
    if (isParleyError(error, 'SERVER_LOST') || isParleyError(error, 'SERVER_REFUSED')) throw error
    return reasonOf(error)
  }
}
