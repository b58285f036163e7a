/** The one door of configuration: defaults < file < environment < flags, checked once, frozen. It alone reads the environment. */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { fail, reasonOf } from '../errors/parley-error.ts'
import { projectFile, stateDirectory, userFile } from './places.ts'
import { textOfFile } from './text-of-file.ts'
import { type AgentChoice, agentChoice, modelChoice } from './agent.ts'
import { type Config, type Fault, settings } from './schema.ts'
import { socketPathOf } from './socket.ts'

export interface Flags {
  readonly agent?: string | undefined
  /** Implies the agent `model`. */
  readonly model?: string | undefined
}

type Environment = Readonly<Record<string, string | undefined>>
type Values = Readonly<Record<string, string | undefined>>

/** Throws CONFIG_INVALID with the key and the value that cannot be. */
export async function loadConfig(
  flags: Flags = {},
  environment: Environment = process.env,
  cwd = process.cwd(),
): Promise<Config> {
  const values = { ...(await fromFiles(environment, cwd)), ...fromEnvironment(environment), ...given(flags) }
  const home = resolve(cwd, values['home'] ?? stateDirectory(environment))
  const now = { ...fromEnvironment(environment), ...given(flags) }
  const isChosenNow = (key: 'agent' | 'model') => now[key] !== undefined
  return Object.freeze({
    home,
    socket: socketPathOf(home),
    agent: chosenAgent(flags, values, cwd),
    agentChosen: isChosenNow('agent') || isChosenNow('model'),
    model: modelOf(values['model']),
    modelChosen: isChosenNow('model'),
    idleMinutes: minutesOf(values['idle_minutes'] ?? '10'),
    docsKey: values['docs_key'],
    authToken: values['auth_token'],
    token: values['token'],
    maxTurnRequests: requestsOf(values['max_turn_requests'] ?? '100'),
    modelTitles: switchOf('model_titles', values['model_titles'] ?? 'true'),
    localModels: switchOf('local_models', values['local_models'] ?? 'true'),
    unstable: switchOf('unstable', values['unstable']),
    faults: faultsOf(values['faults']),
    environment,
  })
}

async function fromFiles(environment: Environment, cwd: string): Promise<Values> {
  const user = await fromFile(userFile(environment), requireProviders)
  const project = await fromFile(projectFile(cwd), refuseProviders)
  return { ...user, ...project }
}

async function fromFile(path: string, judge: (path: string, providers: unknown) => Promise<void>): Promise<Values> {
  if (!existsSync(path)) return {}
  const { mcp, permissions, providers, ...table } = await parsed(path)
  if (mcp !== undefined) await requireSound(path, mcp)
  if (permissions !== undefined) await requireSoundRules(path, permissions)
  if (providers !== undefined) await judge(path, providers)
  return checked(path, table)
}

async function parsed(path: string): Promise<Readonly<Record<string, unknown>>> {
  const { parse } = await import('smol-toml')
  try {
    return parse((await textOfFile(path)) ?? '')
  } catch (error) {
    return fail('CONFIG_INVALID', { key: path, value: 'read', reason: reasonOf(error) }, error)
  }
}

/** Whoever serves a session reads them anew; here it is said what is wrong, to whoever can mend it. */
async function requireSound(path: string, mcp: unknown): Promise<void> {
  const { readMcp } = await import('./mcp.ts')
  for (const one of readMcp(mcp)) {
    if ('fault' in one) fail('CONFIG_INVALID', { ...one.fault, reason: `${one.fault.reason} (${path})` })
  }
}

async function requireSoundRules(path: string, permissions: unknown): Promise<void> {
  const { readPermissions } = await import('./rules.ts')
  for (const fault of readPermissions(permissions).faults)
    fail('CONFIG_INVALID', { ...fault, reason: `${fault.reason} (${path})` })
}

async function requireProviders(path: string, providers: unknown): Promise<void> {
  const { faultsOfProviders } = await import('./models.ts')
  for (const one of faultsOfProviders(providers)) {
    if ('fault' in one) fail('CONFIG_INVALID', { ...one.fault, reason: `${one.fault.reason} (${path})` })
  }
}

/** Whoever wrote a project must not learn the keys of whoever opens it. */
async function refuseProviders(path: string): Promise<void> {
  const reason = `${path} may choose a model, but only your own file says where models are`
  fail('CONFIG_INVALID', { key: 'providers', value: 'set', reason })
}

function checked(path: string, table: Readonly<Record<string, unknown>>): Values {
  for (const [key, value] of Object.entries(table)) {
    const setting = settings.find((known) => known.key === key)
    if (setting === undefined)
      return fail('CONFIG_INVALID', { key, value: 'set', reason: `${path} has no such setting` })
    if (!setting.inFiles)
      return fail('CONFIG_INVALID', { key, value: 'set', reason: `it is not read from ${path}; use ${setting.env}` })
    if (!['string', 'number', 'boolean'].includes(typeof value))
      return fail('CONFIG_INVALID', {
        key,
        value: String(value),
        reason: `${path} must give a text, a number, true or false`,
      })
  }
  return Object.fromEntries(Object.entries(table).map(([key, value]) => [key, String(value)]))
}

function fromEnvironment(environment: Environment): Values {
  const set = settings.flatMap(({ key, env }) => (environment[env] ? [[key, environment[env]] as const] : []))
  return Object.fromEntries(set)
}

function given(flags: Flags): Values {
  const { agent, model } = flags
  return { ...(agent !== undefined && { agent }), ...(model !== undefined && { model }) }
}

/** A model that is named, wherever, is what answers, unless another agent is. */
function chosenAgent(flags: Flags, { agent, model }: Values, cwd: string): AgentChoice {
  const isOther = agent !== undefined && agent !== 'auto' && agent !== 'model'
  if (model === undefined) return agentChoice(agent ?? 'auto', cwd)
  if (!isOther || (flags.model !== undefined && flags.agent === undefined)) return modelChoice(model)
  if (flags.model === undefined) return agentChoice(agent, cwd)
  const reason = '--model is of the agent model; leave --agent out'
  return fail('CONFIG_INVALID', { key: 'agent', value: JSON.stringify(agent), reason })
}

function requestsOf(value: string): number {
  const requests = Number(value)
  if (Number.isInteger(requests) && requests >= 1) return requests
  return fail('CONFIG_INVALID', {
    key: 'max_turn_requests',
    value: JSON.stringify(value),
    reason: 'it is a whole number from 1',
  })
}

function modelOf(value: string | undefined): string | undefined {
  if (value === undefined || /^[^:\s]+:\S/u.test(value)) return value
  return fail('CONFIG_INVALID', { key: 'model', value: JSON.stringify(value), reason: 'it is PROVIDER:NAME' })
}

function minutesOf(value: string): number {
  const minutes = Number(value)
  if (value.trim() !== '' && Number.isFinite(minutes) && minutes >= 0) return minutes
  return fail('CONFIG_INVALID', {
    key: 'idle_minutes',
    value: JSON.stringify(value),
    reason: 'it is a number of minutes from 0',
  })
}

function switchOf(key: string, value = 'false'): boolean {
  if (value === 'true' || value === 'false') return value === 'true'
  return fail('CONFIG_INVALID', { key, value: JSON.stringify(value), reason: 'it is true or false' })
}

function faultsOf(value: string | undefined): readonly Fault[] {
  if (value === undefined) return []
  try {
    return JSON.parse(value) as readonly Fault[]
  } catch (error) {
    return fail('CONFIG_INVALID', { key: 'faults', value: 'read', reason: reasonOf(error) }, error)
  }
}
