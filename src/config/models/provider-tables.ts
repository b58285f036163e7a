/** The tables `[providers.NAME]` of the user's own file: their schema, and the providers that they describe. */
import { z } from 'zod'
import {
  type SettingMistake,
  faultOf,
  isTable,
  number,
  oneOf,
  switchValue,
  tableWith,
  text,
  textTable,
} from '../tables.ts'
import type { KnownModel, ProviderKind } from '../../ports/values/provider.ts'

/** As written: `${NAME}` is not replaced yet. */
export interface ProviderTable {
  readonly name: string
  readonly kind?: ProviderKind
  readonly title?: string
  readonly url?: string
  /** The variable that holds the key. */
  readonly keyEnv?: string
  readonly headers: Readonly<Record<string, string>>
  readonly models: readonly KnownModel[]
  readonly idleSeconds?: number
  readonly enabled: boolean
}

export type ProviderRead = { readonly table: ProviderTable } | { readonly fault: SettingMistake }

const tokens = number('a number of tokens above 0', (value) => Number.isSafeInteger(value) && value > 0)
const amount = number('a number from 0', (value) => value >= 0)

const price = tableWith(
  {
    input: amount.optional(),
    output: amount.optional(),
    cache_read: amount.optional(),
    cache_write: amount.optional(),
    currency: text.optional(),
  },
  'it must be a table: input, output, cache_read, cache_write',
)

const model = tableWith(
  {
    name: text,
    context_window: tokens.optional(),
    max_output_tokens: tokens.optional(),
    images: switchValue.optional(),
    efforts: z.array(text, 'it must be a list of texts').optional(),
    price: price.optional(),
  },
  'it must be a list of names, or of tables with a name',
)

const provider = tableWith(
  {
    kind: oneOf(['openai', 'anthropic', 'google']).optional(),
    title: text.optional(),
    url: z
      .custom<string>(isAddress, 'it must be an http or https URL without a name, a password or a query in it')
      .optional(),
    key_env: z
      .string('it must be the name of a variable, not the key itself')
      .regex(/^[A-Za-z_]\w*$/u, 'it must be the name of a variable, not the key itself')
      .optional(),
    headers: textTable('a table of texts', /^/u, /^/u).optional(),
    models: z
      .custom<readonly unknown[]>(isModelList, 'it must be a list of names, or of tables with a name')
      .optional(),
    idle_seconds: number('a number of seconds above 0', (value) => value > 0).optional(),
    enabled: switchValue.optional(),
  },
  'a provider is a table: url, key_env',
)

/** The tables under `providers`; a provider that is not well known needs a url. */
export function readProviders(providers: unknown, known: ReadonlySet<string>): readonly ProviderRead[] {
  if (!isTable(providers))
    return [{ fault: { key: 'providers', value: 'set', reason: 'it has tables: [providers.NAME]' } }]
  return Object.entries(providers).map(([name, table]) => {
    const fault = faultIn(name, table, known)
    return fault === undefined ? { table: providerOf(name, table as z.infer<typeof provider>) } : { fault }
  })
}

function faultIn(name: string, table: unknown, known: ReadonlySet<string>): SettingMistake | undefined {
  const at = `providers.${name}`
  if (!/^[\w.-]+$/u.test(name))
    return { key: at, value: 'set', reason: 'the name of a provider is letters, digits, -, _ and .' }
  const own = faultOf(at, table, provider)
  if (own !== undefined) return own
  const { url, models = [] } = table as z.infer<typeof provider>
  if (url === undefined && !known.has(name))
    return { key: `${at}.url`, value: 'missing', reason: 'Parley does not know where this provider is' }
  const faults = models.map((one) =>
    isTable(one) ? faultOf(`${at}.models.${String(one['name'])}`, one, model) : undefined,
  )
  return faults.find((fault) => fault !== undefined)
}

/** Each item is checked by itself, so that a fault can name its model. */
function isModelList(value: unknown): boolean {
  return Array.isArray(value) && value.every((one) => (isTable(one) ? isText(one['name']) : isText(one)))
}

function providerOf(name: string, table: z.infer<typeof provider>): ProviderTable {
  const { kind, title, url, key_env: keyEnv, headers = {}, models = [], idle_seconds: idleSeconds, enabled } = table
  return {
    name,
    headers,
    models: models.map((one) => modelOf(one as string | z.infer<typeof model>)),
    enabled: enabled !== false,
    ...set({ kind, title, url, keyEnv, idleSeconds }),
  }
}

function modelOf(given: string | z.infer<typeof model>): KnownModel {
  if (typeof given === 'string') return { name: given }
  const { name, context_window: contextWindow, max_output_tokens: maxOutputTokens, images, efforts } = given
  return {
    name,
    ...set({ contextWindow, maxOutputTokens, images, efforts }),
    ...(given.price !== undefined && { price: priceOf(given.price) }),
  }
}

/** The price of cached input is that of any input, unless the table says otherwise. */
function priceOf({
  input = 0,
  output = 0,
  cache_read: cacheRead = input,
  cache_write: cacheWrite = input,
  currency = 'USD',
}: z.infer<typeof price>): NonNullable<KnownModel['price']> {
  return { currency, input, output, cacheRead, cacheWrite }
}

/** Without the keys that are undefined. */
function set<Fields extends object>(fields: Fields): { [Key in keyof Fields]?: NonNullable<Fields[Key]> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [Key in keyof Fields]?: NonNullable<Fields[Key]>
  }
}

/** A variable may hold any part of it, or all. */
function isAddress(value: unknown): boolean {
  return isText(value) && (value.startsWith('${') || /^https?:\/\/[^\s/?#@]+(?:\/[^\s?#@]*)?$/u.test(value))
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}
