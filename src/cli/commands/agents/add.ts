/** `parley agents add`: installs an agent, or takes over the agents of another tool's settings. */
import { addTable } from '../../../config/files/edit-tables.ts'
import { importAgents } from '../../../config/agents/import-agents.ts'
import { dangerOf } from '../../../config/mcp/danger.ts'
import { userFile } from '../../../config/places.ts'
import type { Config } from '../../../config/settings.ts'
import { reasonOf } from '../../../errors/parley-error.ts'
import { addAgent, chooseWanted } from '../../../server/agents/add-agent.ts'
import { testAgent } from '../../../server/agents/test-agent.ts'
import { type AgentTools, openAgentTools, wantedLine } from '../../../server/compose/agent-catalogue.ts'
import type { CommandInput } from '../../runtime/command.ts'
import { FAILED, OK, USAGE } from '../../runtime/exit-codes.ts'
import { textOption } from '../../runtime/options.ts'
import { watchStops } from '../../runtime/shutdown-signals.ts'
import { configFor } from '../../configured.ts'
import { printJson } from '../../output/json.ts'
import { oneLine } from '../../output/terminal/text.ts'
import { complain } from '../../say.ts'
import { Agreement, progressFor } from './agreement.ts'

export async function run({ args: [name], options }: CommandInput): Promise<number> {
  const file = textOption(options, 'from')
  if ((name === undefined) === (file === undefined)) {
    complain('give the name of an agent, or --from with a file')
    return USAGE
  }
  const config = await configFor()
  const agreement = new Agreement(options['yes'] === true)
  if (file !== undefined) return addFrom(config, file, { agreement, isJson: options['json'] === true })
  const tools = openAgentTools(config)
  try {
    return await addOne(name ?? '', tools, { agreement, isJson: options['json'] === true })
  } finally {
    await tools.close()
  }
}

interface How {
  readonly agreement: Agreement
  readonly isJson: boolean
}

async function addOne(name: string, tools: AgentTools, { agreement, isJson }: How): Promise<number> {
  const stops = watchStops()
  const { signal } = stops
  const progress = progressFor(isJson)
  try {
    progress.tell({ step: 'resolve', what: name })
    const { wanted, isFromRegistry, stale } = await chooseWanted(name, tools, signal)
    progress.done()
    if (stale !== undefined) complain(`the registry of agents did not answer, so an old copy counts: ${stale}`)
    if (!isJson) process.stdout.write(`${oneLine(`${wanted.id} ${wanted.version}: ${wantedLine(wanted)}`, 2000)}\n`)
    const question = `Parley was not tried with ${wanted.id}. Install it from the ACP registry?`
    if (isFromRegistry && !(await agreement.to(question))) return agreement.refused()
    const mayInstallNode = (version: string): Promise<boolean> => {
      progress.done()
      return agreement.to(`${wanted.id} needs Node ${version} or later, which is not here. Install one for agents?`)
    }
    const copy = await addAgent(wanted, tools, { tell: progress.tell, signal, mayInstallNode })
    const { id, version, directory, sum } = copy
    if (id !== 'node') progress.tell({ step: 'probe' })
    const met = id === 'node' ? {} : await meet(id, tools, signal)
    progress.done()
    if (isJson) printJson({ added: { name: id, version, directory, sum, ...met } })
    else tellAdded({ id, version }, met)
    return OK
  } catch (error) {
    if (signal.aborted) return signal.reason as number
    throw error
  } finally {
    progress.done()
    stops.release()
  }
}

interface Met {
  readonly login?: 'needed' | 'done'
  /** Why it could not be asked what it can do. */
  readonly problem?: string
}

/** Its first session knows what it offers then. That it is installed holds even if it does not start. */
async function meet(id: string, tools: AgentTools, signal: AbortSignal): Promise<Met> {
  try {
    const { offers } = await testAgent(id, tools, { cwd: process.cwd(), signal })
    return { login: offers.needsLogin ? 'needed' : 'done' }
  } catch (error) {
    if (signal.aborted) throw error
    return { problem: reasonOf(error) }
  }
}

function tellAdded({ id, version }: { readonly id: string; readonly version: string }, { login, problem }: Met): void {
  const use = id === 'node' ? 'Agents that need it find it there.' : `Use it with: parley --agent ${id}`
  process.stdout.write(`Added ${id} ${version}. ${use}\n`)
  if (login === 'needed') process.stdout.write(`It wants a login first: parley agents login ${id}\n`)
  if (problem !== undefined) complain(oneLine(`it could not be asked what it can do: ${problem}`, 500))
}

/** An agent that cannot be taken over does not stop the others. */
async function addFrom(config: Config, path: string, { agreement, isJson }: How): Promise<number> {
  const file = userFile(config.environment)
  const imported = await importAgents(path)
  if (imported.length === 0) return complainOfUsage(`${path} names no agents`)
  let code = OK
  for (const one of imported) {
    const { name } = one
    if ('wrong' in one) {
      code = complainOfUsage(`${JSON.stringify(name)} was not added: ${one.wrong}`)
      continue
    }
    const line = commandLine(one.table)
    if (!(await agreement.to(`${name}: ${line}${dangerIn(one.table)}\nAdd it?`))) {
      code = agreement.refused()
      continue
    }
    const refused = reasonNot(() => addTable(file, { group: 'agents', name }, one.table))
    const without = one.leftOut.length > 0 ? `, without its ${one.leftOut.join(', ')}` : ''
    if (refused !== undefined) code = complainOfUsage(`${JSON.stringify(name)} was not added: ${refused}`)
    else if (isJson) printJson({ added: { name, file, leftOut: one.leftOut } })
    else process.stdout.write(`${oneLine(`Added ${name} to ${file}${without}.`, 500)}\n`)
  }
  return code
}

/** Exactly what would run; of variables only the names, because their values may be secrets. */
function commandLine({ command, args, registry, env }: Readonly<Record<string, unknown>>): string {
  const names = Object.keys(env ?? {})
  const what =
    registry === undefined
      ? [command, ...((args ?? []) as readonly unknown[])].join(' ')
      : `agent ${JSON.stringify(registry)}`
  return oneLine(names.length === 0 ? what : `${what} (with ${names.join(', ')})`, 2000)
}

function dangerIn({ command, args }: Readonly<Record<string, unknown>>): string {
  const danger = typeof command === 'string' ? dangerOf(command, (args ?? []) as readonly string[]) : undefined
  return danger === undefined ? '' : `\nCareful: ${danger}.`
}

function complainOfUsage(reason: string): number {
  complain(oneLine(reason, 500))
  return FAILED
}

function reasonNot(add: () => void): string | undefined {
  try {
    add()
    return undefined
  } catch (error) {
    return reasonOf(error)
  }
}
