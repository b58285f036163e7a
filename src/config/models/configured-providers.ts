/** Which providers of models there are for this user: the well-known ones, and those of their own `parley.toml`. */
import type { Provider, ProviderKind } from '../../ports/values/provider.ts'
import { type KnownProvider, knownProviders } from './known-providers.ts'
import { catalogue } from '../../errors/catalogue.ts'
import { userFile } from '../places.ts'
import type { ProviderRead, ProviderTable } from './provider-tables.ts'
import { readText } from '../../state-files/bounded-read.ts'
import { variablesIn } from '../files/variables.ts'

type Environment = Readonly<Record<string, string | undefined>>

export interface ModelsConfig {
  /** Their variables are filled in, and their keys are there if they were found. Those of the user's file first, then those with a key, those of this machine, the rest. */
  readonly providers: readonly Provider[]
  /** Mistakes in the file, one sentence each; providers with mistakes are left out. */
  readonly faults: readonly string[]
}

const known: ReadonlySet<string> = new Set(knownProviders.map(({ name }) => name))

/** `read` is what `readProviderTables` returned. */
export function readModels(
  read: readonly ProviderRead[],
  environment: Environment,
  lent: Environment = {},
): ModelsConfig {
  const tables = read.flatMap((one) => ('table' in one ? [one.table] : []))
  const faults = read.flatMap((one) => ('fault' in one ? [sentence(one)] : []))
  const own = tables
    .filter(({ enabled }) => enabled)
    .map((table) => settled(table, whereReached(table, { environment, lent }), true))
  const others = knownProviders
    .filter(({ name }) => !tables.some((table) => table.name === name))
    .map(({ name }) => tableNamed(name))
    .map((table) => settled(table, whereReached(table, { environment, lent })))
  const ranked = others.toSorted((a, b) => rank(a) - rank(b))
  return { providers: [...own, ...ranked], faults }
}

/** The names of the variables that the tables of the user's file need. */
export async function variablesOfOwnProviders(environment: Environment): Promise<readonly string[]> {
  const read = await readProviderTables(environment)
  return read.flatMap((one) => ('table' in one ? variablesOf(one.table) : []))
}

/** All values of a provider come from one environment, so that a key is never sent to an address from the other one. */
function whereReached(
  table: ProviderTable,
  { environment, lent }: { readonly environment: Environment; readonly lent: Environment },
): Environment {
  return variablesOf(table).some((name) => lent[name] !== undefined) ? lent : environment
}

function variablesOf({ name, url, keyEnv, headers }: ProviderTable): readonly string[] {
  const base = knownProviders.find((one) => one.name === name)
  const own = [...(keyEnv === undefined ? [] : [keyEnv]), ...variablesIn([url, headers])]
  return [...own, ...(base?.keyNames ?? []), ...(base?.urlNames ?? [])]
}

function tableNamed(name: string): ProviderTable {
  return { name, headers: {}, models: [], enabled: true }
}

/** Mistakes in the tables, for the loader of the whole file. */
export async function faultsOfProviders(providers: unknown): Promise<readonly ProviderRead[]> {
  const { readProviders } = await import('./provider-tables.ts')
  return readProviders(providers, known).filter((one) => 'fault' in one)
}

/**
 * The tables of the user's own file, which alone says where keys are sent: a project's may choose a model, never a provider.
 * Their schema takes time to load and a client waits for the start, so it is loaded only where the file mentions providers.
 */
export async function readProviderTables(environment: Environment): Promise<readonly ProviderRead[]> {
  try {
    const text = await readText(userFile(environment))
    if (text?.includes('providers') !== true) return []
    const [{ parse }, { readProviders }] = await Promise.all([import('smol-toml'), import('./provider-tables.ts')])
    const { providers } = parse(text)
    return providers === undefined ? [] : readProviders(providers, known)
  } catch {
    // The loader of the settings reports a file that cannot be read at all.
    return []
  }
}

export type { ProviderRead }

function sentence({ fault }: Extract<ProviderRead, { fault: unknown }>): string {
  return catalogue.CONFIG_INVALID.sentence(fault)
}

function rank({ isConfigured, keyNames }: Provider): number {
  if (isConfigured) return 0
  return keyNames.length === 0 ? 1 : 2
}

function settled(table: ProviderTable, environment: Environment, isWritten = false): Provider {
  const base = knownProviders.find(({ name }) => name === table.name)
  const kind = table.kind ?? base?.kind ?? 'openai'
  const url = versioned(trimmed(filled(table.url ?? urlOf(base, environment), environment)), kind)
  const named = table.keyEnv === undefined ? (table.url === undefined ? (base?.keyNames ?? []) : []) : [table.keyEnv]
  const key = named.map((name) => environment[name]).find((one) => one !== undefined && one !== '')
  const isLocal = /^https?:\/\/(?:127(?:\.\d+){3}|localhost|\[::1\])(?=[:/]|$)/u.test(url)
  return {
    name: table.name,
    title: table.title ?? titleOf(base?.title ?? table.name, { url, isFamous: base?.url === url && !isLocal }),
    kind,
    url,
    isLocal,
    key,
    // Servers of this machine need no key; where one is sent all the same, an error names its variable.
    keyNames: isLocal && table.keyEnv === undefined && key === undefined ? [] : named,
    headers: Object.fromEntries(
      Object.entries(table.headers).map(([name, value]) => [name, filled(value, environment)]),
    ),
    models: table.models,
    isConfigured: isWritten || key !== undefined,
    ...(table.idleSeconds !== undefined && { idleSeconds: table.idleSeconds }),
    ...(base?.preferred !== undefined && { preferred: base.preferred }),
  }
}

function titleOf(title: string, { url, isFamous }: { readonly url: string; readonly isFamous: boolean }): string {
  return isFamous ? title : `${title} at ${new URL(url).origin}`
}

/** A variable that sets another address for a provider; an invalid address is ignored. */
function urlOf(base: KnownProvider | undefined, environment: Environment): string {
  for (const name of base?.urlNames ?? []) {
    const address = addressIn(environment[name] ?? '')
    if (address !== undefined) return address
  }
  return base?.url ?? ''
}

/** `OLLAMA_HOST` is often only a host and a port, and the address on which a server listens may not be one to connect to. */
function addressIn(value: string): string | undefined {
  const host = /^([\w.-]+)(:\d+)?$/u.exec(value)
  const url = host === null ? value : `http://${host[1]}${host[2] ?? ':11434'}`
  if (!/^https?:\/\//u.test(url) || !URL.canParse(url)) return undefined
  const { protocol, host: where, pathname } = new URL(url.replace('//0.0.0.0', '//127.0.0.1'))
  return `${protocol}//${where}${pathname}`
}

function trimmed(url: string): string {
  return url.replace(/\/+$/u, '')
}

/** Users write the host alone, because other programs use these variables so. */
function versioned(url: string, kind: ProviderKind): string {
  const { pathname } = new URL(url)
  if (/\/v\d/u.test(pathname) || (kind === 'openai' && pathname !== '/')) return url
  return `${url}/${kind === 'google' ? 'v1beta' : 'v1'}`
}

function filled(text: string, environment: Environment): string {
  return text.replaceAll(
    /\$\{([A-Za-z_]\w*)(?::-([^}]*))?\}/gu,
    (_whole, name: string, otherwise = '') => environment[name] ?? otherwise,
  )
}
