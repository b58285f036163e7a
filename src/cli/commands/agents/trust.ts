/** `parley agents trust`: the user agrees to exactly what a project's file says of one agent. */
import { type FoundAgent, readAgentFiles } from '../../../config/agents/agent-files.ts'
import { variablesIn } from '../../../config/files/variables.ts'
import { dangerOf } from '../../../config/mcp/danger.ts'
import { allow } from '../../../config/mcp/edit-trust.ts'
import type { CommandInput } from '../../runtime/command.ts'
import { FAILED, OK } from '../../runtime/exit-codes.ts'
import { configFor } from '../../configured.ts'
import { oneLine } from '../../output/terminal/text.ts'
import { complain } from '../../say.ts'

const MAX_LENGTH = 2000

export async function run({ args: [name = ''] }: CommandInput): Promise<number> {
  const config = await configFor()
  const { agents } = readAgentFiles(config, process.cwd())
  const found = agents.find(({ entry, from }) => entry.name === name && from === 'project')
  if (found === undefined) {
    complain(`no .parley.toml of this directory has an agent ${JSON.stringify(name)}`)
    return FAILED
  }
  allow(config.home, found.digest, { file: found.file, name })
  process.stdout.write(`Allowed ${oneLine(name, 80)} of ${found.file}, until it says something else: ${whole(found)}\n`)
  for (const danger of dangersOf(found))
    process.stdout.write(`Careful: ${danger}. If you did not know that: parley agents rm ${oneLine(name, 80)}\n`)
  return OK
}

function dangersOf({ entry }: FoundAgent): readonly string[] {
  const danger = entry.command === undefined ? undefined : dangerOf(entry.command, entry.args ?? [])
  const variables = [...variablesIn({ args: entry.args, env: entry.env }), ...entry.passEnv]
  const given =
    variables.length === 0 ? [] : [`it is given ${oneLine(variables.join(', '), MAX_LENGTH)} of your environment`]
  return [...(danger === undefined ? [] : [danger]), ...given]
}

/** Nothing of it is the user's secret, and all of it is what was agreed to. */
function whole({ entry }: FoundAgent): string {
  const variables = Object.entries(entry.env).map(([name, value]) => `${name}=${value}`)
  const what =
    entry.command === undefined ? [`agent ${entry.registry ?? entry.name}`] : [entry.command, ...(entry.args ?? [])]
  return oneLine([...variables, ...what].join(' '), MAX_LENGTH)
}
