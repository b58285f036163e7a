/** `parley agents test NAME`: starts an agent once, and prints what it can do and what it does differently. */
import { type Tested, testAgent } from '../../../server/agents/test-agent.ts'
import { openAgentTools } from '../../../server/compose/agent-catalogue.ts'
import type { Config } from '../../../config/settings.ts'
import { askRemote } from '../../remote/ask-remote.ts'
import type { CommandInput } from '../../runtime/command.ts'
import { OK } from '../../runtime/exit-codes.ts'
import { watchStops } from '../../runtime/shutdown-signals.ts'
import { configFor } from '../../configured.ts'
import { printJson } from '../../output/json.ts'
import type { Paint } from '../../output/terminal/colors.ts'
import { oneLine } from '../../output/terminal/text.ts'
import { paintOn } from '../../output/terminal-io.ts'
import { progressFor } from './agreement.ts'

/** An agent may have to be fetched there first. Milliseconds. */
const TIMEOUT_MS = 330_000

export async function run({ args: [name = ''], options }: CommandInput): Promise<number> {
  const config = await configFor()
  const stops = watchStops()
  const isJson = options['json'] === true
  const progress = progressFor(false)
  try {
    if (!isJson) progress.tell({ step: 'probe' })
    const prompts = options['prompts'] === true
    const tested = await testedBy(config, name, { prompts, signal: stops.signal })
    progress.done()
    if (isJson) printJson(tested)
    else process.stdout.write(`${linesOf(tested, paintOn(process.stdout, config)).join('\n')}\n`)
    return OK
  } catch (error) {
    if (stops.signal.aborted) return stops.signal.reason as number
    throw error
  } finally {
    progress.done()
    stops.release()
  }
}

interface Testing {
  readonly prompts: boolean
  readonly signal: AbortSignal
}

async function testedBy(config: Config, agent: string, { prompts, signal }: Testing): Promise<Tested> {
  if (config.server !== undefined)
    return askRemote(config, {
      method: '_parley/agents/test',
      params: { agent, prompts },
      timeoutMs: TIMEOUT_MS,
      signal,
    })
  const tools = openAgentTools(config)
  try {
    return await testAgent(agent, tools, { cwd: process.cwd(), signal, prompts })
  } finally {
    await tools.close()
  }
}

function linesOf({ name, offers, notes, tried, isVerified, differs, tries = [] }: Tested, paint: Paint): string[] {
  const { agentName, version, initMs = 0, newMs, needsLogin, logins } = offers
  const times = [`started in ${seconds(initMs)}`, ...(newMs === undefined ? [] : [`a session in ${seconds(newMs)}`])]
  const verified = isVerified ? `tried with Parley up to ${tried ?? ''}` : 'not tried with Parley in this version'
  return [
    `${paint('bold', oneLine(name, 60))}  ${oneLine(`${agentName} ${version}`, 120)} (${verified})`,
    `  ${times.join(', ')}`,
    ...abilitiesOf(offers).map((line) => `  ${oneLine(line, 500)}`),
    ...(logins.length === 0 ? [] : [`  Logins: ${oneLine(logins.map(({ id }) => id).join(', '), 300)}`]),
    ...(needsLogin ? [`  ${paint('asking', 'It wants a login')}: parley agents login ${oneLine(name, 60)}`] : []),
    ...notes.map((note) => `  - ${note}`),
    ...differs.map((sentence) => `${paint('asking', '!')} ${oneLine(sentence, 300)}`),
    ...tries.map((one) => triedLine(one, paint)),
  ]
}

function triedLine({ what, found, row, fits }: NonNullable<Tested['tries']>[number], paint: Paint): string {
  const assumed = row === undefined ? '' : ` (its row says ${oneLine(row, 200)})`
  return `${fits ? '✓' : paint('asking', '!')} ${what.padEnd(22)} ${oneLine(found, 300)}${assumed}`
}

function abilitiesOf({
  capabilities,
  promptKinds,
  modes,
  configOptions,
  models,
  commands,
}: Tested['offers']): string[] {
  const session = Object.keys(capabilities['sessionCapabilities'] ?? {})
  const can = [...(capabilities['loadSession'] === true ? ['load'] : []), ...session]
  const kinds = Object.entries(promptKinds).flatMap(([kind, isTaken]) => (isTaken ? [kind] : []))
  const mcp = Object.entries((capabilities['mcpCapabilities'] ?? {}) as Readonly<Record<string, unknown>>)
  const over = ['stdio', ...mcp.flatMap(([transport, isThere]) => (isThere === true ? [transport] : []))]
  return [
    `Sessions: ${can.length === 0 ? 'only new ones' : can.join(', ')}`,
    `Prompts: ${['text', ...kinds].join(', ')}; MCP servers over ${over.join(', ')}`,
    ...named('Modes', modes, 'availableModes'),
    ...named('Options', { configOptions }, 'configOptions'),
    ...named('Models', models, 'availableModels'),
    ...(commands.length === 0 ? [] : [`Commands: ${commands.length}`]),
  ]
}

/** The ids in a list of the wire. */
function named(heading: string, from: unknown, key: string): string[] {
  const list = (from as Readonly<Record<string, unknown>> | undefined)?.[key]
  if (!Array.isArray(list) || list.length === 0) return []
  const ids = list.map((one: { readonly id?: unknown; readonly modelId?: unknown }) => String(one.id ?? one.modelId))
  return [`${heading}: ${ids.join(', ')}`]
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`
}
