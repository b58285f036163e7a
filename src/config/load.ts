/** The one door of configuration: defaults < file < environment < flags, checked once, frozen. It alone reads the environment. */
import { dirname, isAbsolute, resolve } from 'node:path'
import { fail, isParleyError, reasonOf } from '../errors/parley-error.ts'
import { ignoredPlaces, stateDirectory, userFile, workingDirectory } from './places.ts'
import { type FileSettings, type Settings, ofProject, ofUser } from './files/setting-files.ts'
import { type AgentChoice, agentChoice, modelChoice } from './agent-choice.ts'
import { type Config, type Fault, settings } from './schema.ts'
import { requirePrivateState } from './private.ts'
import { providerVariables } from './provider-variables.ts'
import { socketPathOf } from './socket.ts'

export interface Flags {
  readonly agent?: string | undefined
  /** Implies the agent `model`. */
  readonly model?: string | undefined
  /** For a server, which serves the sessions of every directory: the project that it is started in decides nothing. */
  readonly withoutProject?: boolean
}

type Environment = Readonly<Record<string, string | undefined>>
type Values = Readonly<Record<string, string | undefined>>

/**
 * Throws CONFIG_INVALID with the key, the value that cannot be and where that is said, and CONFIG_UNREADABLE for a file that
 * is no TOML.
 */
export async function loadConfig(
  flags: Flags = {},
  environment: Environment = process.env,
  cwd = workingDirectory(),
): Promise<Config> {
  const user = await ofUser(environment)
  const project = flags.withoutProject === true ? NOTHING : await ofProject(cwd)
  const said = { ...user.said, ...project.said, ...fromEnvironment(environment), ...given(flags) }
  const lent = await providerVariables(environment)
  const warnings = [...ignoredPlaces(environment), ...user.warnings, ...project.warnings]
  try {
    const config = judged({ flags, environment, cwd, warnings, lent }, said)
    const tightened = requirePrivateState(config.home)
    return tightened === undefined ? config : Object.freeze({ ...config, warnings: [tightened, ...warnings] })
  } catch (error) {
    const place = isParleyError(error, 'CONFIG_INVALID') ? said[error.details.key]?.place : undefined
    if (!isParleyError(error, 'CONFIG_INVALID') || place === undefined) throw error
    return fail('CONFIG_INVALID', { ...error.details, reason: `${error.details.reason} (${place})` }, error)
  }
}

const NOTHING: FileSettings = { said: {}, warnings: [] }

interface Given {
  readonly flags: Flags
  readonly environment: Environment
  readonly cwd: string
  readonly warnings: readonly string[]
  readonly lent: Readonly<Record<string, string>>
}

function judged({ flags, environment, cwd, warnings, lent }: Given, said: Settings): Config {
  const values: Values = Object.fromEntries(Object.entries(said).map(([key, one]) => [key, one?.text]))
  const home = homeOf(environment, cwd)
  const now = { ...fromEnvironment(environment), ...given(flags) }
  const isChosenNow = (key: 'agent' | 'model') => now[key] !== undefined
  return Object.freeze({
    home,
    socket: socketPathOf(home),
    agent: chosenAgent(flags, values, {
      // A script that the user's file names stands beside that file, wherever the command runs.
      directory: isChosenNow('agent') ? cwd : dirname(userFile(environment)),
      isNamedNow: isChosenNow('agent'),
    }),
    agentChosen: isChosenNow('agent') || isChosenNow('model'),
    model: modelOf(values['model']),
    modelChosen: isChosenNow('model'),
    idleMinutes: minutesOf(values['idle_minutes'] ?? '10'),
    maxStallSeconds: stallOf(values['max_stall_seconds'] ?? '30'),
    docsKey: values['docs_key'],
    serverToken: values['server_token'],
    clientToken: values['client_token'],
    maxSteps: requestsOf(values['max_steps'] ?? '100'),
    modelTitles: switchOf('model_titles', values['model_titles'] ?? 'true'),
    discoverLocalModels: switchOf('discover_local_models', values['discover_local_models'] ?? 'true'),
    commandSandbox: sandboxOf(values['command_sandbox'] ?? 'off'),
    commandNetwork: switchOf('command_network', values['command_network'] ?? 'true'),
    experimental: switchOf('experimental', values['experimental']),
    faults: faultsOf(values['faults']),
    warnings,
    providerVariables: lent,
    environment,
  })
}

function fromEnvironment(environment: Environment): Settings {
  const set = settings.flatMap(({ key, env }) => {
    const text = environment[env]
    return text ? [[key, { text, place: env }] as const] : []
  })
  return Object.fromEntries(set)
}

function given({ agent, model }: Flags): Settings {
  return {
    ...(agent !== undefined && { agent: { text: agent } }),
    ...(model !== undefined && { model: { text: model } }),
  }
}

/**
 * Where the state is, by the environment alone. A relative path would mean another state in each directory, and sessions that
 * seem to be lost. Throws CONFIG_INVALID.
 */
export function homeOf(environment: Environment, cwd: string): string {
  const named = environment['PARLEY_HOME']
  const path = named || stateDirectory(environment)
  if (isAbsolute(path)) return path
  if (!named)
    return fail('CONFIG_INVALID', { key: 'home', value: JSON.stringify(path), reason: 'HOME must be an absolute path' })
  const reason = `it must be an absolute path, or each directory has sessions of its own; type PARLEY_HOME=${resolve(cwd, path)}`
  return fail('CONFIG_INVALID', { key: 'home', value: JSON.stringify(path), reason })
}

/** A model that is named, wherever, is what answers, unless another agent is. */
function chosenAgent(flags: Flags, { agent, model }: Values, named: Parameters<typeof agentChoice>[1]): AgentChoice {
  const isOther = agent !== undefined && agent !== 'auto' && agent !== 'model'
  if (model === undefined) return agentChoice(agent ?? 'auto', named)
  if (!isOther || (flags.model !== undefined && flags.agent === undefined)) return modelChoice(model)
  if (flags.model === undefined) return agentChoice(agent, named)
  const reason = '--model is of the agent model; leave --agent out'
  return fail('CONFIG_INVALID', { key: 'agent', value: JSON.stringify(agent), reason })
}

function requestsOf(value: string): number {
  const requests = Number(value)
  if (Number.isInteger(requests) && requests >= 1) return requests
  return fail('CONFIG_INVALID', {
    key: 'max_steps',
    value: JSON.stringify(value),
    reason: 'it must be a whole number from 1',
  })
}

function modelOf(value: string | undefined): string | undefined {
  if (value === undefined || /^[^:\s]+:\S/u.test(value)) return value
  return fail('CONFIG_INVALID', { key: 'model', value: JSON.stringify(value), reason: 'it must be PROVIDER:NAME' })
}

function minutesOf(value: string): number {
  const minutes = Number(value)
  if (value.trim() !== '' && Number.isFinite(minutes) && minutes >= 0) return minutes
  return fail('CONFIG_INVALID', {
    key: 'idle_minutes',
    value: JSON.stringify(value),
    reason: 'it must be a number of minutes from 0',
  })
}

function stallOf(value: string): number {
  const seconds = Number(value)
  if (value.trim() !== '' && Number.isInteger(seconds) && (seconds === 0 || seconds >= 5)) return seconds
  return fail('CONFIG_INVALID', {
    key: 'max_stall_seconds',
    value: JSON.stringify(value),
    reason: 'it must be a whole number of seconds from 5, or 0',
  })
}

function sandboxOf(value: string): Config['commandSandbox'] {
  if (value === 'off' || value === 'auto' || value === 'on') return value
  return fail('CONFIG_INVALID', {
    key: 'command_sandbox',
    value: JSON.stringify(value),
    reason: 'it must be off, auto or on',
  })
}

function switchOf(key: string, value = 'false'): boolean {
  if (value === 'true' || value === 'false') return value === 'true'
  return fail('CONFIG_INVALID', { key, value: JSON.stringify(value), reason: 'it must be true or false' })
}

function faultsOf(value: string | undefined): readonly Fault[] {
  if (value === undefined) return []
  try {
    return JSON.parse(value) as readonly Fault[]
  } catch (error) {
    return fail('CONFIG_INVALID', { key: 'faults', value: 'read', reason: reasonOf(error) }, error)
  }
}
