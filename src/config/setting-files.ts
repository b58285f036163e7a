/** The settings of the user's file and of a project's, each with the place where it stands. */
import { existsSync } from 'node:fs'
import type { ErrorDetails } from '../errors/catalogue.ts'
import { fail } from '../errors/parley-error.ts'
import { projectFile, userFile } from './places.ts'
import { settings } from './schema.ts'
import { textOfFile } from './text-of-file.ts'

export type Settings = Readonly<Record<string, Said | undefined>>

interface Said {
  readonly text: string
  /** For whoever has to correct it; a flag needs none. */
  readonly place?: string
}

type Environment = Readonly<Record<string, string | undefined>>
type Table = Readonly<Record<string, unknown>>
type Wrong = ErrorDetails<'CONFIG_INVALID'>

/** The project's count more. Throws CONFIG_UNREADABLE and CONFIG_INVALID. */
export async function fromFiles(environment: Environment, cwd: string): Promise<Settings> {
  const user = await fromFile(userFile(environment), wrongProviders)
  const project = await fromFile(projectFile(cwd), refusedProviders)
  return { ...user, ...project }
}

async function fromFile(path: string, judge: (providers: unknown) => Promise<readonly Wrong[]>): Promise<Settings> {
  if (!existsSync(path)) return {}
  const { table, placeOf } = await parsed(path)
  const { mcp, permissions, providers, ...plain } = table
  const wrong = [
    ...(mcp === undefined ? [] : await wrongServers(mcp)),
    ...(permissions === undefined ? [] : await wrongRules(permissions)),
    ...(providers === undefined ? [] : await judge(providers)),
    ...(await wrongSettings(plain)),
  ]
  for (const one of wrong) fail('CONFIG_INVALID', { ...one, reason: `${one.reason} (${placeOf(one.key)})` })
  const said = Object.entries(plain).map(([key, value]) => [key, { text: String(value), place: placeOf(key) }])
  return Object.fromEntries(said) as Settings
}

async function parsed(path: string): Promise<{ readonly table: Table; readonly placeOf: (key: string) => string }> {
  const { parse } = await import('smol-toml')
  const { faultOfToml, placeOf } = await import('./place-of.ts')
  try {
    const text = (await textOfFile(path)) ?? ''
    return { table: parse(text), placeOf: (key) => placeOf(path, text, key) }
  } catch (error) {
    return fail('CONFIG_UNREADABLE', faultOfToml(path, error), error)
  }
}

/** Whoever serves a session reads them anew; here it is said what is wrong, to whoever can mend it. */
async function wrongServers(mcp: unknown): Promise<readonly Wrong[]> {
  const { readMcp } = await import('./mcp.ts')
  return readMcp(mcp).flatMap((one) => ('fault' in one ? [one.fault] : []))
}

async function wrongRules(permissions: unknown): Promise<readonly Wrong[]> {
  const { readPermissions } = await import('./rules.ts')
  return readPermissions(permissions).faults
}

async function wrongProviders(providers: unknown): Promise<readonly Wrong[]> {
  const { faultsOfProviders } = await import('./models.ts')
  return faultsOfProviders(providers).flatMap((one) => ('fault' in one ? [one.fault] : []))
}

/** Whoever wrote a project must not learn the keys of whoever opens it. */
async function refusedProviders(): Promise<readonly Wrong[]> {
  const reason = 'a project may choose a model, but only your own file says where models are'
  return [{ key: 'providers', value: 'set', reason }]
}

async function wrongSettings(table: Table): Promise<readonly Wrong[]> {
  const { nearest } = await import('./place-of.ts')
  return Object.entries(table).flatMap(([key, value]) => {
    const setting = settings.find((known) => known.key === key)
    if (setting === undefined) {
      const meant = nearest(key, ['mcp', 'permissions', 'providers', ...settings.map((known) => known.key)])
      const reason = `there is no such setting${meant === undefined ? '' : `; perhaps ${meant} is meant`}`
      return [{ key, value: 'set', reason }]
    }
    if (!setting.inFiles) return [{ key, value: 'set', reason: `no file may set it; use ${setting.env}` }]
    if (['string', 'number', 'boolean'].includes(typeof value)) return []
    return [
      { key, value: Array.isArray(value) ? 'a list' : 'a table', reason: 'it is a text, a number, true or false' },
    ]
  })
}
