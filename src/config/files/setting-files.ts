/** The settings of the user's file and of a project's, each with the place where it stands. */
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { ErrorDetails } from '../../errors/catalogue.ts'
import { fail, reasonOf } from '../../errors/parley-error.ts'
import { projectFile, userFile } from '../places.ts'
import { requirePrivateFile } from '../private.ts'
import { type Setting, settings } from '../settings.ts'
import { MAX_PROJECT_BYTES, readText } from '../../state-files/bounded-read.ts'

export type SettingTexts = Readonly<Record<string, Said | undefined>>

interface Said {
  readonly text: string
  /** For the user who has to correct it; a flag needs none. */
  readonly place?: string
}

export interface FileSettings {
  readonly said: SettingTexts
  /** The settings that were ignored, one sentence each, without secrets. */
  readonly warnings: readonly string[]
}

type Environment = Readonly<Record<string, string | undefined>>
type Table = Readonly<Record<string, unknown>>
type Wrong = ErrorDetails<'CONFIG_INVALID'>

/** How many faults of a project's file are reported one by one. */
const MOST_WARNINGS = 5

/** Throws CONFIG_UNREADABLE or CONFIG_INVALID for a mistake in the user's own file. */
export async function ofUser(environment: Environment): Promise<FileSettings> {
  const path = userFile(environment)
  const stray = strayIn(dirname(path), { is: '.parley.toml', meant: 'parley.toml' })
  if (!existsSync(path)) return { said: {}, warnings: stray }
  requirePrivateFile(path)
  const { table, placeOf } = await readToml(path)
  const [wrong] = await wrongIn(table, 'user')
  if (wrong !== undefined) fail('CONFIG_INVALID', { ...wrong, reason: `${wrong.reason} (${placeOf(wrong.key)})` })
  return { said: saidIn(table, placeOf), warnings: stray }
}

/** Faults of a project's file are left out and reported as warnings: its author need not be the user, who can continue. */
export async function ofProject(cwd: string): Promise<FileSettings> {
  const path = projectFile(cwd)
  const stray = strayIn(cwd, { is: 'parley.toml', meant: '.parley.toml' })
  if (!existsSync(path)) return { said: {}, warnings: stray }
  try {
    const { table, placeOf } = await readToml(path, MAX_PROJECT_BYTES)
    const wrong = await wrongIn(table, 'project')
    const isWrong = (key: string) => wrong.some((one) => one.key === key)
    const sound = Object.fromEntries(Object.entries(table).filter(([key]) => !isWrong(key)))
    return { said: saidIn(sound, placeOf), warnings: [...stray, ...warningsFor(wrong, placeOf)] }
  } catch (error) {
    return { said: {}, warnings: [...stray, reasonOf(error)] }
  }
}

/** Warns of a file with nearly the right name, because no program reads it and its author would not notice. */
function strayIn(directory: string, { is, meant }: { readonly is: string; readonly meant: string }): readonly string[] {
  const path = join(directory, is)
  // The directory of the user's own file may be the project.
  if (!existsSync(path) || existsSync(join(directory, meant))) return []
  return [`${path} is not read: the settings of this directory are in ${meant}.`]
}

function warningsFor(wrong: readonly Wrong[], placeOf: (key: string) => string): readonly string[] {
  const reported = wrong.slice(0, MOST_WARNINGS).map(({ key, reason }) => {
    // A rule that cannot be read may be a denial.
    const becomes = key.startsWith('permissions') ? 'is wrong, so every call of a tool is asked about' : 'is ignored'
    return `${placeOf(key)}: ${shortKey(key)} ${becomes}: ${reason}.`
  })
  const left = wrong.length - reported.length
  return left > 0 ? [...reported, `${placeOf('')}: ${left} more settings are wrong.`] : reported
}

function shortKey(key: string): string {
  return key.length > 80 ? `${key.slice(0, 80)}…` : key
}

function saidIn(
  { agents: _agents, mcp: _mcp, permissions: _rules, providers: _providers, ...plain }: Table,
  placeOf: PlaceOf,
): SettingTexts {
  const said = Object.entries(plain).map(([key, value]) => [key, { text: String(value), place: placeOf(key) }])
  return Object.fromEntries(said) as SettingTexts
}

type PlaceOf = (key: string) => string

async function readToml(path: string, largest?: number): Promise<{ readonly table: Table; readonly placeOf: PlaceOf }> {
  const { parse } = await import('smol-toml')
  const { faultOfToml, positionOfKey: placeOf } = await import('./toml-position.ts')
  try {
    const text = (await readText(path, largest)) ?? ''
    return { table: parse(text), placeOf: (key) => placeOf(path, text, key) }
  } catch (error) {
    return fail('CONFIG_UNREADABLE', faultOfToml(path, error), error)
  }
}

type Source = 'user' | 'project'

async function wrongIn(
  { agents, mcp, permissions, providers, ...plain }: Table,
  source: Source,
): Promise<readonly Wrong[]> {
  return [
    ...(agents === undefined ? [] : await wrongAgents(agents, source)),
    ...(mcp === undefined ? [] : await wrongServers(mcp, source)),
    ...(permissions === undefined ? [] : await wrongRules(permissions, source)),
    ...(providers === undefined ? [] : await wrongProviders(providers, source)),
    ...(await wrongSettings(plain, source)),
  ]
}

/** Sessions read the servers again. Here the mistakes are reported to the user who can fix them. */
async function wrongServers(mcp: unknown, source: Source): Promise<readonly Wrong[]> {
  const { readMcp } = await import('../mcp/mcp-servers.ts')
  return readMcp(mcp, source).flatMap((one) => ('fault' in one ? [one.fault] : []))
}

async function wrongAgents(agents: unknown, source: Source): Promise<readonly Wrong[]> {
  const { readAgents } = await import('../agents/agent-entries.ts')
  return readAgents(agents, source).flatMap((one) => ('fault' in one ? [one.fault] : []))
}

async function wrongRules(permissions: unknown, source: Source): Promise<readonly Wrong[]> {
  const { readPermissions } = await import('../rules/permission-tables.ts')
  return readPermissions(permissions, source).faults
}

/** The author of a project must not learn the keys of a user who opens it. */
async function wrongProviders(providers: unknown, source: Source): Promise<readonly Wrong[]> {
  if (source === 'project') {
    const reason = 'a project may choose a model, but only your own file says where models are'
    return [{ key: 'providers', value: 'set', reason }]
  }
  const { faultsOfProviders } = await import('../models/configured-providers.ts')
  const faults = await faultsOfProviders(providers)
  return faults.flatMap((one) => ('fault' in one ? [one.fault] : []))
}

async function wrongSettings(table: Table, source: Source): Promise<readonly Wrong[]> {
  const { perhapsMeant } = await import('../nearest.ts')
  const known = ['agents', 'mcp', 'permissions', 'providers', ...settings.map(({ key }) => key)]
  return Object.entries(table).flatMap(([key, value]): readonly Wrong[] => {
    const setting = settings.find((one) => one.key === key)
    if (setting === undefined)
      return [{ key, value: 'set', reason: `there is no such setting${meantBy(key) ?? perhapsMeant(key, known)}` }]
    const reason = unfit(setting, source) ?? wrongKind(value)
    if (reason !== undefined) return [{ key, value: typeName(value), reason }]
    return source === 'project' ? wrongChoice(setting, String(value)) : []
  })
}

/** How other programs call what is written in a table here. */
const TABLES: Readonly<Record<string, string>> = {
  mcp_servers: '[mcp.NAME]',
  mcpservers: '[mcp.NAME]',
  servers: '[mcp.NAME]',
  agent_servers: '[agents.NAME]',
  rules: '[permissions]',
  rule: '[permissions]',
}

function meantBy(key: string): string | undefined {
  const name = key.toLowerCase().replaceAll('-', '_')
  return Object.hasOwn(TABLES, name) ? `; perhaps ${TABLES[name]} is meant` : undefined
}

function unfit({ env, files }: Setting, source: Source): string | undefined {
  if (files === 'none') return `no file may set it; use ${env}`
  return source === 'project' && files === 'user' ? `only your own parley.toml or ${env} sets it` : undefined
}

function wrongKind(value: unknown): string | undefined {
  return ['string', 'number', 'boolean'].includes(typeof value)
    ? undefined
    : 'it must be a text, a number, true or false'
}

function typeName(value: unknown): string {
  if (wrongKind(value) === undefined) return 'set'
  return Array.isArray(value) ? 'a list' : 'a table'
}

/** A project may not name a file or a command, because it would run as the user. */
function wrongChoice({ key }: Setting, value: string): readonly Wrong[] {
  const choice = CHOICES.find((one) => one.key === key)
  if (choice === undefined || choice.fits.test(value)) return []
  return [{ key, value: 'set', reason: choice.reason }]
}

const CHOICES: readonly { readonly key: Setting['key']; readonly fits: RegExp; readonly reason: string }[] = [
  {
    key: 'agent',
    fits: /^(?:auto|guide|model|model:[^\s:]+:\S+)$/u,
    reason:
      'a project may choose auto, guide, model or model:PROVIDER:NAME; only your own parley.toml, PARLEY_AGENT or --agent names a script or an external agent',
  },
  { key: 'model', fits: /^[^\s:]+:\S+$/u, reason: 'it must be PROVIDER:NAME' },
]
