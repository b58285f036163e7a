/** `parley mcp rm NAME`: removes a server from the user's parley.toml, or takes back the trust in one of a project. */
import { withdrawTrust } from '../../../config/mcp/edit-trust.ts'
import { lenientConfig } from '../../configured.ts'
import { hasTable, removeTable } from '../../../config/files/edit-tables.ts'
import { readMcpFiles } from '../../../config/mcp/server-files.ts'
import { userFile } from '../../../config/places.ts'
import type { CommandInput } from '../../runtime/command.ts'
import { FAILED, OK } from '../../runtime/exit-codes.ts'
import { complain } from '../../say.ts'
import { oneLine } from '../../output/terminal/text.ts'
import { unknownServer } from './words.ts'

export async function run({ args: [name = ''] }: CommandInput): Promise<number> {
  const config = await lenientConfig()
  const { servers } = readMcpFiles(config, process.cwd())
  const file = userFile(config.environment)
  const allowed = servers.find(
    ({ entry, from, standing }) => entry.name === name && from === 'project' && standing !== 'waiting',
  )
  // A table that is wrong can be removed too.
  if (hasTable(file, { group: 'mcp', name })) {
    removeTable(file, { group: 'mcp', name })
    process.stdout.write(`Removed ${oneLine(name, 80)} from ${file}.\n`)
  } else if (allowed !== undefined) {
    withdrawTrust(config.home, { file: allowed.file, name })
    process.stdout.write(`${oneLine(name, 80)} of ${allowed.file} is allowed no longer.\n`)
  } else {
    complain(unknownServer(name, servers))
    return FAILED
  }
  return OK
}
