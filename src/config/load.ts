/** The one door of configuration: defaults < file < environment < flags, checked once, frozen. It alone reads the environment. */
import { existsSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { fail, reasonOf } from '../errors/parley-error.ts'
import { type AgentChoice, type Config, type Fault, settings } from './schema.ts'
import { socketPathOf } from './socket.ts'

export interface Flags {
  readonly agent?: string | undefined
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
  return Object.freeze({
    home,
    socket: socketPathOf(home),
    agent: agentChoice(values['agent'] ?? 'guide', cwd),
    agentChosen: { ...fromEnvironment(environment), ...given(flags) }['agent'] !== undefined,
    idleMinutes: minutesOf(values['idle_minutes'] ?? '10'),
    docsKey: values['docs_key'],
    authToken: values['auth_token'],
    token: values['token'],
    unstable: switchOf('unstable', values['unstable']),
    faults: faultsOf(values['faults']),
    environment,
  })
}

async function fromFiles(environment: Environment, cwd: string): Promise<Values> {
  const user = await fromFile(join(configDirectory(environment), 'parley.toml'))
  const project = await fromFile(join(cwd, '.parley.toml'))
  return { ...user, ...project }
}

async function fromFile(path: string): Promise<Values> {
  if (!existsSync(path)) return {}
  const { parse } = await import('smol-toml')
  try {
    return checked(path, parse(readFileSync(path, 'utf8')))
  } catch (error) {
    return fail('CONFIG_INVALID', { key: path, value: 'read', reason: reasonOf(error) }, error)
  }
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
  return flags.agent === undefined ? {} : { agent: flags.agent }
}

function agentChoice(value: string, cwd: string): AgentChoice {
  if (value === 'guide') return { kind: 'guide' }
  const path = /^script:(.+)$/u.exec(value)?.[1]
  if (path !== undefined) return { kind: 'script', path: resolve(cwd, path) }
  return fail('CONFIG_INVALID', { key: 'agent', value: JSON.stringify(value), reason: 'it is guide or script:FILE' })
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

/** XDG on Linux and wherever it is set; the platform's own place elsewhere. */
function stateDirectory(environment: Environment): string {
  if (environment['XDG_STATE_HOME']) return join(environment['XDG_STATE_HOME'], 'parley')
  if (process.platform === 'darwin') return join(homedir(), 'Library', 'Application Support', 'parley')
  if (process.platform === 'win32') return join(environment['LOCALAPPDATA'] ?? homedir(), 'parley')
  return join(homedir(), '.local', 'state', 'parley')
}

function configDirectory(environment: Environment): string {
  if (environment['XDG_CONFIG_HOME']) return join(environment['XDG_CONFIG_HOME'], 'parley')
  if (process.platform === 'darwin') return join(homedir(), 'Library', 'Application Support', 'parley')
  if (process.platform === 'win32') return join(environment['APPDATA'] ?? homedir(), 'parley')
  return join(homedir(), '.config', 'parley')
}
