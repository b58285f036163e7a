/** `parley agents ls`: every agent that sessions can use here, where it comes from, and what to type if it cannot start. */
import { type ListedAgent, listAgents } from '../../../server/agents/list-agents.ts'
import { askAgents } from '../../../server/admin/admin-client.ts'
import type { Config } from '../../../config/settings.ts'
import { fail } from '../../../errors/parley-error.ts'
import { remoteOf } from '../../remote/dial-remote.ts'
import { openAgentTools } from '../../../server/compose/agent-catalogue.ts'
import type { CommandInput } from '../../runtime/command.ts'
import { OK } from '../../runtime/exit-codes.ts'
import { watchStops } from '../../runtime/shutdown-signals.ts'
import { configFor } from '../../configured.ts'
import { printJson } from '../../output/json.ts'
import type { Paint } from '../../output/terminal/colors.ts'
import { oneLine } from '../../output/terminal/text.ts'
import { paintOn } from '../../output/terminal-io.ts'
import { complain } from '../../say.ts'

export async function run({ options }: CommandInput): Promise<number> {
  const config = await configFor()
  if (config.server !== undefined) return await listRemote(config, options)
  const tools = openAgentTools(config)
  const { signal } = watchStops()
  try {
    if (options['all'] === true) {
      const { stale } = await tools.registry.ask(signal)
      if (stale !== undefined) complain(`the registry of agents did not answer, so an old copy is shown: ${stale}`)
    }
    const rows = await listAgents(config, tools, process.cwd())
    if (options['json'] === true) rows.forEach(printJson)
    else print(rows, paintOn(process.stdout, config))
    return signal.aborted ? (signal.reason as number) : OK
  } finally {
    await tools.close()
  }
}

/** The remote server sends neither command lines nor files, because those are for the user of that machine. */
async function listRemote(config: Config, options: CommandInput['options']): Promise<number> {
  const reason = 'the registry is asked on the machine of the server: run it there'
  if (options['all'] === true) fail('CONFIG_INVALID', { key: '--all', value: 'set', reason })
  const { agents } = await askAgents({ ...config, ...(await remoteOf(config)) })
  if (options['json'] === true) agents.forEach(printJson)
  else print(agents, paintOn(process.stdout, config))
  return OK
}

function print(rows: readonly ListedAgent[], paint: Paint): void {
  const here = rows.filter(({ source }) => source !== 'none')
  const absent = rows.filter(({ source }) => source === 'none')
  for (const row of here) {
    const { name, title = '', reason, command } = row
    process.stdout.write(`${paint('bold', oneLine(name, 60))}  ${oneLine(title, 60)}${detailsOf(row)}\n`)
    process.stdout.write(`  ${paint('dim', oneLine(reason ?? command ?? '', 300))}\n`)
  }
  if (here.length === 0) process.stdout.write('No external agent is installed yet.\n')
  if (absent.length > 0) process.stdout.write(`\nNot installed (parley agents add NAME):\n`)
  for (const { name, title = '', file, reason } of absent) {
    // The user's own entry describes another program than `add NAME` would install, so its reason is shown.
    const words = file === undefined ? oneLine(title, 60) : oneLine(reason ?? title, 300)
    process.stdout.write(`  ${oneLine(name, 60)}  ${paint('dim', words)}\n`)
  }
}

const FROM = {
  user: 'your parley.toml',
  project: '.parley.toml',
  installed: 'installed by Parley',
  path: 'on PATH',
  none: '',
} as const

function detailsOf({ source, version, newer, isVerified, login, command }: ListedAgent): string {
  const words = [
    ...(version === undefined ? [] : [`version ${version}`]),
    ...(newer === undefined ? [] : [`${newer} is available`]),
    FROM[source],
    ...(login === 'needed' ? ['needs a login'] : []),
    ...(isVerified || command === undefined ? [] : ['not tried with Parley in this version']),
  ]
  return ` (${words.map((word) => oneLine(word, 60)).join(', ')})`
}
