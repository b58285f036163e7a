/** Loads the configuration: defaults < user's file < project's file < environment < flags. It is checked once and frozen. */
import { hostname } from 'node:os'
import { dirname, isAbsolute, resolve } from 'node:path'
import { fail, isParleyError, reasonOf } from '../errors/parley-error.ts'
import { ignoredPlaces, stateDirectory, userFile, workingDirectory } from './places.ts'
import { type FileSettings, type SettingTexts, ofProject, ofUser } from './files/setting-files.ts'
import { type AgentChoice, agentChoice, modelChoice } from './agent-choice.ts'
import { type ClusterSettings, type Config, settings } from './settings.ts'
import { requirePrivateState } from './private.ts'
import { type SettingValues, parseSettingValues } from './files/setting-values.ts'
import { providerVariables } from './models/provider-variables.ts'
import { socketPathOf } from './socket.ts'

export interface Flags {
  readonly agent?: string | undefined
  /** Implies the agent `model`. */
  readonly model?: string | undefined
  /** For a server, which serves the sessions of every directory: the settings of its own directory do not count. */
  readonly withoutProject?: boolean
  /** As the setting `listen`. */
  readonly listen?: string | undefined
  /** As the setting `server`. */
  readonly server?: string | undefined
  /** The state directory, instead of `PARLEY_HOME`. */
  readonly home?: string | undefined
  /** As the setting `cluster`. */
  readonly cluster?: string | undefined
}

type Environment = Readonly<Record<string, string | undefined>>

/**
 * Throws CONFIG_INVALID with the key, the value and its file and line, and CONFIG_UNREADABLE for a file that is not TOML.
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
    const values = checkedValues(said)
    const config = configOf({ flags, environment, cwd, warnings, lent, values }, said)
    const tightened = requirePrivateState(config.home)
    return tightened === undefined ? config : Object.freeze({ ...config, warnings: [tightened, ...warnings] })
  } catch (error) {
    const place = isParleyError(error, 'CONFIG_INVALID') ? said[error.details.key]?.place : undefined
    if (!isParleyError(error, 'CONFIG_INVALID') || place === undefined) throw error
    return fail('CONFIG_INVALID', { ...error.details, reason: `${error.details.reason} (${place})` }, error)
  }
}

export interface LenientConfig {
  /** The default settings where the files cannot be read. The state directory does not depend on them. */
  readonly config: Config
  /** One sentence, without secrets. */
  readonly fault?: string
}

/**
 * For commands that must work with an invalid settings file. Throws CONFIG_INVALID and STATE_NOT_PRIVATE for a state
 * directory that cannot be used, and because of no other setting.
 */
export async function loadLenient(environment = process.env, cwd = workingDirectory()): Promise<LenientConfig> {
  try {
    return { config: await loadConfig({}, environment, cwd) }
  } catch (error) {
    // Every command needs the state directory, so a fault there is thrown.
    const home = homeOf(environment, cwd)
    const config = await loadConfig({}, { PARLEY_HOME: home, XDG_CONFIG_HOME: '/dev/null' }, '/dev/null')
    return { config: { ...config, environment }, fault: reasonOf(error) }
  }
}

/** https://github.com/agentclientprotocol/registry */
const PUBLIC_REGISTRY = 'https://cdn.agentclientprotocol.com/registry/v1/latest/registry.json'

const NOTHING: FileSettings = { said: {}, warnings: [] }

interface LoadInput {
  readonly flags: Flags
  readonly environment: Environment
  readonly cwd: string
  readonly warnings: readonly string[]
  readonly lent: Readonly<Record<string, string>>
  readonly values: SettingValues
}

function configOf({ flags, environment, cwd, warnings, lent, values }: LoadInput, said: SettingTexts): Config {
  const home = flags.home === undefined ? homeOf(environment, cwd) : resolve(cwd, flags.home)
  const now = { ...fromEnvironment(environment), ...given(flags) }
  const isChosenNow = (key: 'agent' | 'model') => now[key] !== undefined
  return Object.freeze({
    home,
    socket: socketPathOf(home),
    agent: chosenAgent(
      flags,
      { agent: said['agent']?.text, model: values.model },
      {
        // The path of a script in the user's file is relative to that file.
        directory: isChosenNow('agent') ? cwd : dirname(userFile(environment)),
        isNamedNow: isChosenNow('agent'),
      },
    ),
    agentChosen: isChosenNow('agent') || isChosenNow('model'),
    model: values.model,
    modelChosen: isChosenNow('model'),
    idleMinutes: values.idle_minutes ?? 10,
    maxStallSeconds: values.max_stall_seconds ?? 30,
    docsKey: values.docs_key,
    serverToken: values.server_token,
    clientToken: values.client_token,
    maxSteps: values.max_steps ?? 100,
    modelTitles: values.model_titles ?? true,
    discoverLocalModels: values.discover_local_models ?? true,
    commandSandbox: values.command_sandbox ?? 'off',
    commandNetwork: values.command_network ?? true,
    agentsRegistry: values.agents_registry ?? PUBLIC_REGISTRY,
    experimental: values.experimental ?? false,
    listen: values.listen ?? [],
    remoteConnections: values.remote_connections ?? 64,
    remoteRequestsPerSecond: values.remote_requests_per_second ?? 20,
    remoteSessionsPerMinute: values.remote_sessions_per_minute ?? 20,
    remoteRoots: values.remote_roots ?? [],
    pushServices: values.push_services ?? [],
    server: values.server,
    cluster: clusterOf(values),
    faults: values.faults ?? [],
    warnings,
    providerVariables: lent,
    environment,
  })
}

function clusterOf(values: SettingValues): ClusterSettings | undefined {
  const { cluster: urls, cluster_schema: schema, cluster_node: node, cluster_unsafe: unsafe } = values
  return (
    urls && {
      urls,
      schema: schema ?? 'parley',
      node: node ?? hostname(),
      listen: values.cluster_listen ?? { host: '127.0.0.1', port: 0 },
      advertise: values.cluster_advertise,
      serves: values.cluster_serves,
      labels: values.cluster_labels ?? {},
      token: values.cluster_token,
      unsafe: unsafe ?? false,
      minDurability: values.cluster_min_durability ?? 'disk',
    }
  )
}

function fromEnvironment(environment: Environment): SettingTexts {
  const set = settings.flatMap(({ key, env }) => {
    const text = environment[env]
    return text ? [[key, { text, place: env }] as const] : []
  })
  return Object.fromEntries(set)
}

function given({ agent, model, listen, server, cluster }: Flags): SettingTexts {
  return {
    ...(agent !== undefined && { agent: { text: agent } }),
    ...(model !== undefined && { model: { text: model } }),
    ...(server !== undefined && { server: { text: server } }),
    ...(cluster !== undefined && { cluster: { text: cluster, place: '--cluster' } }),
    ...(listen !== undefined && { listen: { text: listen, place: '--listen' } }),
  }
}

/**
 * The state directory; only the environment sets it. A relative path would mean another state in each directory, and sessions
 * that seem to be lost. Throws CONFIG_INVALID.
 */
function homeOf(environment: Environment, cwd: string): string {
  const named = environment['PARLEY_HOME']
  const path = named || stateDirectory(environment)
  if (isAbsolute(path)) return path
  if (!named)
    return fail('CONFIG_INVALID', { key: 'home', value: JSON.stringify(path), reason: 'HOME must be an absolute path' })
  const reason = `it must be an absolute path, or each directory has sessions of its own; type PARLEY_HOME=${resolve(cwd, path)}`
  return fail('CONFIG_INVALID', { key: 'home', value: JSON.stringify(path), reason })
}

interface Chosen {
  readonly agent: string | undefined
  readonly model: string | undefined
}

/** A chosen model answers, unless another agent than `model` is chosen. */
function chosenAgent(flags: Flags, { agent, model }: Chosen, named: Parameters<typeof agentChoice>[1]): AgentChoice {
  const isOther = agent !== undefined && agent !== 'auto' && agent !== 'model'
  if (model === undefined) return agentChoice(agent ?? 'auto', named)
  if (!isOther || (flags.model !== undefined && flags.agent === undefined)) return modelChoice(model)
  if (flags.model === undefined) return agentChoice(agent, named)
  const reason = '--model is of the agent model; leave --agent out'
  return fail('CONFIG_INVALID', { key: 'agent', value: JSON.stringify(agent), reason })
}

function checkedValues(said: SettingTexts): SettingValues {
  return parseSettingValues(Object.fromEntries(Object.entries(said).map(([key, one]) => [key, one?.text])))
}
