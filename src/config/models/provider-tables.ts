/** What `[providers.NAME]` of the user's own file may say: every key, what it takes, and what becomes of it. */
import { perhapsMeant } from '../nearest.ts'
import type { ProviderKind } from './known-providers.ts'

export interface ModelTable {
  readonly name: string
  readonly contextWindow?: number
  readonly maxOutputTokens?: number
  readonly images?: boolean
  readonly efforts?: readonly string[]
  readonly price?: {
    readonly currency: string
    readonly input: number
    readonly output: number
    readonly cacheRead: number
    readonly cacheWrite: number
  }
}

/** As written: `${NAME}` still stands where a variable is meant. */
export interface ProviderTable {
  readonly name: string
  readonly kind?: ProviderKind
  readonly title?: string
  readonly url?: string
  /** Which variable holds the key. */
  readonly keyEnv?: string
  readonly headers: Readonly<Record<string, string>>
  readonly models: readonly ModelTable[]
  readonly idleSeconds?: number
  readonly enabled: boolean
}

/** What is wrong with a table, as CONFIG_INVALID says it. */
export interface ProviderFault {
  readonly key: string
  readonly value: string
  readonly reason: string
}

export type ProviderRead = { readonly table: ProviderTable } | { readonly fault: ProviderFault }

interface Kind {
  readonly words: string
  readonly holds: (value: unknown) => boolean
}

type Table = Readonly<Record<string, unknown>>

const text: Kind = { words: 'a text', holds: isText }
const texts: Kind = { words: 'a list of texts', holds: (value) => Array.isArray(value) && value.every(isText) }
const tokens: Kind = {
  words: 'a number of tokens above 0',
  holds: (value) => Number.isSafeInteger(value) && Number(value) > 0,
}
const price: Kind = { words: 'a number from 0', holds: (value) => typeof value === 'number' && value >= 0 }
const yesOrNo: Kind = { words: 'true or false', holds: (value) => typeof value === 'boolean' }

const KEYS: Readonly<Record<string, Kind>> = {
  kind: {
    words: 'openai, anthropic or google',
    holds: (value) => ['openai', 'anthropic', 'google'].includes(String(value)),
  },
  title: text,
  url: { words: 'an http or https URL without a name, a password or a query in it', holds: isAddress },
  key_env: {
    words: 'the name of a variable, not the key itself',
    holds: (value) => isText(value) && /^[A-Za-z_]\w*$/u.test(String(value)),
  },
  headers: {
    words: 'a table of texts',
    holds: (value) => isTable(value) && Object.values(value).every((one) => typeof one === 'string'),
  },
  models: {
    words: 'a list of names, or of tables with a name',
    holds: (value) => Array.isArray(value) && value.every((one) => isText(one) || isTable(one)),
  },
  idle_seconds: { words: 'a number of seconds above 0', holds: (value) => typeof value === 'number' && value > 0 },
  enabled: yesOrNo,
}

const MODEL_KEYS: Readonly<Record<string, Kind>> = {
  name: text,
  context_window: tokens,
  max_output_tokens: tokens,
  images: yesOrNo,
  efforts: texts,
  price: { words: 'a table: input, output, cache_read, cache_write', holds: isTable },
}

const PRICE_KEYS: Readonly<Record<string, Kind>> = {
  input: price,
  output: price,
  cache_read: price,
  cache_write: price,
  currency: text,
}

/** The tables under `providers`; a provider that is not well known needs a url. */
export function readProviders(providers: unknown, known: ReadonlySet<string>): readonly ProviderRead[] {
  if (!isTable(providers))
    return [{ fault: { key: 'providers', value: 'what it is', reason: 'it has tables: [providers.NAME]' } }]
  return Object.entries(providers).map(([name, table]) => {
    const fault = faultIn(name, table, known)
    return fault === undefined ? { table: tableOf(name, table as Table) } : { fault }
  })
}

function faultIn(name: string, table: unknown, known: ReadonlySet<string>): ProviderFault | undefined {
  const at = `providers.${name}`
  if (!isTable(table)) return { key: at, value: 'what it is', reason: 'a provider is a table: url, key_env' }
  if (!/^[\w.-]+$/u.test(name))
    return { key: at, value: 'set', reason: 'the name of a provider is letters, digits, -, _ and .' }
  const own = wrongIn(at, table, KEYS)
  if (own !== undefined) return own
  if (table['url'] === undefined && !known.has(name))
    return { key: `${at}.url`, value: 'missing', reason: 'Parley does not know where this provider is' }
  return modelsFault(at, (table['models'] ?? []) as readonly unknown[])
}

function modelsFault(at: string, models: readonly unknown[]): ProviderFault | undefined {
  for (const model of models) {
    if (!isTable(model)) continue
    if (!isText(model['name'])) return { key: `${at}.models`, value: 'what it is', reason: 'each table needs a name' }
    const key = `${at}.models.${String(model['name'])}`
    const wrong =
      wrongIn(key, model, MODEL_KEYS) ?? wrongIn(`${key}.price`, (model['price'] ?? {}) as Table, PRICE_KEYS)
    if (wrong !== undefined) return wrong
  }
  return undefined
}

function wrongIn(at: string, table: Table, kinds: Readonly<Record<string, Kind>>): ProviderFault | undefined {
  for (const [key, value] of Object.entries(table)) {
    const kind = Object.hasOwn(kinds, key) ? kinds[key] : undefined
    const known = Object.keys(kinds)
    if (kind === undefined) {
      const reason = `there is only ${known.join(', ')}${perhapsMeant(key, known)}`
      return { key: `${at}.${key}`, value: 'set', reason }
    }
    // The value may be a key to something: it stays out of the sentence.
    if (!kind.holds(value)) return { key: `${at}.${key}`, value: 'what it is', reason: `it must be ${kind.words}` }
  }
  return undefined
}

/** The table was checked: every value is what its key takes. */
function tableOf(
  name: string,
  { kind, title, url, key_env: keyEnv, headers = {}, models = [], idle_seconds: idleSeconds, enabled }: Table,
): ProviderTable {
  const given = { kind, title, url, keyEnv, idleSeconds }
  const set = Object.entries(given).filter(([, value]) => value !== undefined)
  return {
    name,
    headers,
    models: (models as readonly unknown[]).map(modelOf),
    enabled: enabled !== false,
    ...Object.fromEntries(set),
  } as ProviderTable
}

function modelOf(model: unknown): ModelTable {
  if (typeof model === 'string') return { name: model }
  const {
    name,
    context_window: contextWindow,
    max_output_tokens: maxOutputTokens,
    images,
    efforts,
    price,
  } = model as Table
  const given = {
    name,
    contextWindow,
    maxOutputTokens,
    images,
    efforts,
    price: price === undefined ? undefined : priceOf(price as Table),
  }
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as unknown as ModelTable
}

/** What is read from a cache costs what any input costs, where nothing else is said. */
function priceOf({
  input = 0,
  output = 0,
  cache_read: cacheRead = input,
  cache_write: cacheWrite = input,
  currency = 'USD',
}: Table): unknown {
  return { currency, input, output, cacheRead, cacheWrite }
}

/** A variable may hold any part of it, or all. */
function isAddress(value: unknown): boolean {
  if (!isText(value)) return false
  const url = String(value)
  return url.startsWith('${') || /^https?:\/\/[^\s/?#@]+(?:\/[^\s?#@]*)?$/u.test(url)
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value !== ''
}

function isTable(value: unknown): value is Table {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date)
}
