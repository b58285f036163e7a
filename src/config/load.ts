/** The one door of configuration: defaults < file < environment < flags, checked once, frozen. It alone reads the environment. */
import { resolve } from 'node:path'
import { fail, isParleyError, reasonOf } from '../errors/parley-error.ts'
import { stateDirectory, workingDirectory } from './places.ts'
import { type Settings, fromFiles } from './setting-files.ts'
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

/**
 * Throws CONFIG_INVALID with the key, the value that cannot be and where that is said, and CONFIG_UNREADABLE for a file that
 * is no TOML.
 */
export async function loadConfig(
  flags: Flags = {},
  environment: Environment = process.env,
  cwd = workingDirectory(),
): Promise<Config> {
  const said = { ...(await fromFiles(environment, cwd)), ...fromEnvironment(environment), ...given(flags) }
  try {
    return judged({ flags, environment, cwd }, said)
  } catch (error) {
    const place = isParleyError(error, 'CONFIG_INVALID') ? said[error.details.key]?.place : undefined
    if (!isParleyError(error, 'CONFIG_INVALID') || place === undefined) throw error
    return fail('CONFIG_INVALID', { ...error.details, reason: `${error.details.reason} (${place})` }, error)
  }
}

interface Given {
  readonly flags: Flags
  readonly environment: Environment
  readonly cwd: string
}

function judged({ flags, environment, cwd }: Given, said: Settings): Config {
  const values: Values = Object.fromEntries(Object.entries(said).map(([key, one]) => [key, one?.text]))
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
    maxStallSeconds: stallOf(values['max_stall_seconds'] ?? '30'),
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

function stallOf(value: string): number {
  const seconds = Number(value)
  if (value.trim() !== '' && Number.isInteger(seconds) && (seconds === 0 || seconds >= 5)) return seconds
  return fail('CONFIG_INVALID', {
    key: 'max_stall_seconds',
    value: JSON.stringify(value),
    reason: 'it is a whole number of seconds from 5, or 0',
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
