/** `parley agents rm NAME[@VERSION]`: removes an entry, an installed copy, or the consent to one of a project. */
import { readAgentFiles } from '../../../config/agents/agent-files.ts'
import { hasTable, removeTable } from '../../../config/files/edit-tables.ts'
import { withdrawTrust } from '../../../config/mcp/edit-trust.ts'
import { userFile } from '../../../config/places.ts'
import type { Config } from '../../../config/settings.ts'
import { removeAgent, splitName } from '../../../server/agents/add-agent.ts'
import { openAgentTools } from '../../../server/compose/agent-catalogue.ts'
import type { CommandInput } from '../../runtime/command.ts'
import { FAILED, OK } from '../../runtime/exit-codes.ts'
import { lenientConfig } from '../../configured.ts'
import { printJson } from '../../output/json.ts'
import { oneLine } from '../../output/terminal/text.ts'
import { complain } from '../../say.ts'

export async function run({ args: [text = ''], options }: CommandInput): Promise<number> {
  const config = await lenientConfig()
  const removed = [...removeNamed(config, text), ...(await removeCopies(config, text))]
  if (removed.length === 0) {
    complain(`there is no agent ${JSON.stringify(text)} to remove; parley agents ls lists them`)
    return FAILED
  }
  if (options['json'] === true) printJson({ removed })
  else for (const what of removed) process.stdout.write(`${oneLine(`Removed ${what}.`, 500)}\n`)
  return OK
}

/** A table that is wrong can be removed too. */
function removeNamed(config: Config, text: string): readonly string[] {
  const { name, version } = splitName(text)
  if (version !== undefined) return []
  const file = userFile(config.environment)
  if (hasTable(file, { group: 'agents', name })) {
    removeTable(file, { group: 'agents', name })
    return [`${name} from ${file}`]
  }
  const { agents } = readAgentFiles(config, process.cwd())
  const allowed = agents.find(
    ({ entry, from, standing }) => entry.name === name && from === 'project' && standing === 'active',
  )
  if (allowed === undefined) return []
  withdrawTrust(config.home, { file: allowed.file, name })
  return [`the consent to ${name} of ${allowed.file}`]
}

async function removeCopies(config: Config, text: string): Promise<readonly string[]> {
  const tools = openAgentTools(config)
  try {
    return (await removeAgent(text, tools)) ? [`${text} from ${tools.installed.directory}`] : []
  } finally {
    await tools.close()
  }
}
