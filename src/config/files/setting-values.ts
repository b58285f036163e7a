/**
 * The plain settings: their valid values in a file or in the environment, and the parsed values that the program gets. By
 * hand, not with zod: an editor waits for its relay to start, and loading zod takes longer than all else that the relay does.
 */
import { fail } from '../../errors/parley-error.ts'
import { type ListenAddress, parseListen } from '../listen.ts'
import { type InjectedFault, settings } from '../settings.ts'

/** Returns the value, or throws a `Reason`. */
type Parse<Value> = (text: string) => Value

/** Why a text is not allowed. */
class Reason extends Error {}

function isCount(value: number): boolean {
  return Number.isInteger(value) && value >= 1
}

const parsers = {
  idle_minutes: number('it must be a number of minutes from 0', (value) => Number.isFinite(value) && value >= 0),
  max_stall_seconds: number(
    'it must be a whole number of seconds from 5, or 0',
    (value) => Number.isInteger(value) && (value === 0 || value >= 5),
  ),
  remote_connections: number('it must be a whole number from 1', isCount),
  remote_requests_per_second: number('it must be a whole number from 1', isCount),
  remote_sessions_per_minute: number('it must be a whole number from 1', isCount),
  max_steps: number('it must be a whole number from 1', isCount),
  model(text: string): string {
    if (/^[^:\s]+:\S/u.test(text)) return text
    throw new Reason('a model is PROVIDER:NAME, like ollama:qwen3; parley models lists them')
  },
  model_titles: parseSwitch,
  discover_local_models: parseSwitch,
  command_sandbox(text: string): 'off' | 'auto' | 'on' {
    if (text === 'off' || text === 'auto' || text === 'on') return text
    throw new Reason('it must be off, auto or on')
  },
  command_network: parseSwitch,
  agents_registry(text: string): string {
    if (/^https?:\/\/./u.test(text) && URL.canParse(text)) return text
    throw new Reason('it must be an http or https URL')
  },
  experimental: parseSwitch,
  listen(text: string): readonly ListenAddress[] {
    const addresses = parseListen(text)
    if (addresses !== undefined) return addresses
    throw new Reason('an address is PORT, HOST:PORT or [IPV6]:PORT')
  },
  remote_roots: absolutePaths,
  push_services(text: string): readonly string[] {
    const origins = text.split(',').map((one) => one.trim())
    if (origins.every((one) => URL.canParse(one) && new URL(one).origin === one)) return origins
    throw new Reason('it must be origins such as https://push.example, separated by commas')
  },
  server: String,
  cluster(text: string): readonly string[] {
    const urls = text.split(/\s+/u).filter((url) => url !== '')
    if (urls.length > 0 && urls.every((url) => /^postgres(?:ql)?:\/\/./u.test(url))) return urls
    throw new Reason('an address is postgres://USER@HOST/DATABASE, and several are separated by spaces')
  },
  cluster_schema(text: string): string {
    if (/^[a-z_][a-z0-9_]{0,62}$/u.test(text)) return text
    throw new Reason('a schema has up to 63 small letters, digits and underscores, and does not begin with a digit')
  },
  cluster_node(text: string): string {
    if (/^[\w.-]{1,64}$/u.test(text)) return text
    throw new Reason('a node has up to 64 letters, digits, dots, hyphens and underscores')
  },
  cluster_listen: oneAddress,
  cluster_advertise: oneAddress,
  cluster_serves: absolutePaths,
  cluster_labels(text: string): Readonly<Record<string, string>> {
    const labels = text.split(',').map((one) => one.trim().split('='))
    if (labels.every((label) => label.length === 2 && label.every((part) => /^[\w./-]+$/u.test(part))))
      return Object.fromEntries(labels as [string, string][])
    throw new Reason('it must be labels such as gpu=yes, separated by commas')
  },
  cluster_token(text: string): string {
    if (text.length >= 32) return text
    throw new Reason('it has at least 32 characters; make one with: openssl rand -hex 32')
  },
  cluster_unsafe: parseSwitch,
  cluster_min_durability(text: string): 'disk' | 'replicated' {
    if (text === 'disk' || text === 'replicated') return text
    throw new Reason('it must be disk or replicated')
  },
  docs_key: String,
  server_token: String,
  client_token: String,
  faults(text: string): readonly InjectedFault[] {
    const faults = parseJson(text)
    if (Array.isArray(faults) && faults.every(isFault)) return faults
    throw new Reason('it must be a list')
  },
} satisfies Readonly<Record<string, Parse<unknown>>>

type Key = keyof typeof parsers

export type SettingValues = { readonly [One in Key]?: ReturnType<(typeof parsers)[One]> }

/** Throws CONFIG_INVALID for the first value that is not allowed, in the order of the table of settings. */
export function parseSettingValues(texts: Readonly<Record<string, string | undefined>>): SettingValues {
  const given = settings.flatMap(({ key }) => {
    const text = texts[key]
    return text === undefined || !isKey(key) ? [] : [[key, parseValue(key, text)] as const]
  })
  return Object.fromEntries(given)
}

function isKey(key: string): key is Key {
  return Object.hasOwn(parsers, key)
}

function parseValue(key: Key, text: string): unknown {
  try {
    return parsers[key](text)
  } catch (error) {
    if (!(error instanceof Reason)) throw error
    // An address may hold a password.
    const value = key === 'cluster' || key === 'cluster_token' ? {} : { value: JSON.stringify(text) }
    return fail('CONFIG_INVALID', { key, ...value, reason: error.message }, error)
  }
}

function number(reason: string, fits: (value: number) => boolean): Parse<number> {
  return (text) => {
    if (text.trim() !== '' && fits(Number(text))) return Number(text)
    throw new Reason(reason)
  }
}

function oneAddress(text: string): ListenAddress {
  const addresses = parseListen(text)
  if (addresses?.length === 1 && addresses[0] !== undefined) return addresses[0]
  throw new Reason('an address is PORT, HOST:PORT or [IPV6]:PORT')
}

function parseSwitch(text: string): boolean {
  if (text === 'true' || text === 'false') return text === 'true'
  throw new Reason('it must be true or false')
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new Reason(error instanceof Error ? error.message : String(error))
  }
}

const ACTIONS: ReadonlySet<unknown> = new Set(['kill', 'throw', 'delay', 'hang'])

function isFault(value: unknown): value is InjectedFault {
  if (typeof value !== 'object' || value === null) return false
  const { point, action, nth, ms, during } = value as Readonly<Record<string, unknown>>
  return (
    typeof point === 'string' &&
    ACTIONS.has(action) &&
    typeof nth === 'number' &&
    (ms === undefined || typeof ms === 'number') &&
    (during === undefined || typeof during === 'string')
  )
}

function absolutePaths(text: string): readonly string[] {
  const paths = text.split(',').map((one) => one.trim())
  if (paths.every((one) => one.startsWith('/'))) return paths
  throw new Reason('it must be absolute paths, separated by commas')
}
