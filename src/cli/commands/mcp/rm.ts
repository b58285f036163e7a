/** `parley mcp rm NAME`: removes a server from the user's parley.toml, or revokes the trust in a server of a project. */
import { type RemovedMcp, removeMcp } from '../../../server/admin/mcp-configuration.ts'
import { lenientConfig } from '../../configured.ts'
import type { CommandInput } from '../../runtime/command.ts'
import { askRemote } from '../../remote/ask-remote.ts'
import { OK } from '../../runtime/exit-codes.ts'
import { oneLine } from '../../output/terminal/text.ts'

export async function run({ args: [name = ''] }: CommandInput): Promise<number> {
  const config = await lenientConfig()
  const cwd = process.cwd()
  const { file, removed } =
    config.server === undefined
      ? removeMcp(config, name, cwd)
      : await askRemote<RemovedMcp>(config, { method: '_parley/mcp/remove', params: { name, cwd } })
  const said =
    removed === 'table'
      ? `Removed ${oneLine(name, 80)} from ${file}.`
      : `${oneLine(name, 80)} of ${file} is allowed no longer.`
  process.stdout.write(`${said}\n`)
  return OK
}
