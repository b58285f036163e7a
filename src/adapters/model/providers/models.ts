/** Lists and opens models: of configured providers, of well-known providers with a key, and of model servers on this machine. */
import { LruMap } from '../../../async/lru.ts'
import { fail } from '../../../errors/parley-error.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { Model, ModelListing, Models, ModelSource, ModelTraits, ModelPrice } from '../../../ports/model.ts'
import type { Signal } from '../../../ports/values/signal.ts'
import type { ProviderProtocol, ModelOptions } from '../protocol/provider-protocol.ts'
import { isPortClosed, type ModelsFound, listModels, NOTHING_LISTENS } from './list-models.ts'
import { whereKey } from '../http/provider-key.ts'
import type { KnownModel, Provider, ProviderKind } from '../../../ports/values/provider.ts'
import type { ProviderTransport } from '../http/provider-requests.ts'

interface ModelsOptions {
  /** In order of preference: configured providers first. */
  readonly providers: readonly Provider[]
  /** The model that the user chose. */
  readonly preset?: string | undefined
  readonly clock: Clock
}

export interface OwnedModels extends Models {
  /** Aborts requests for lists. Idempotent. */
  close(): Promise<void>
}

interface RequestLimit {
  readonly limitMs: number
  readonly signal: Signal
}

export function openModels({ providers, preset, clock }: ModelsOptions): OwnedModels {
  /** The models that each provider listed. */
  const knownModels = new Map<string, readonly KnownModel[]>()
  const kept = new OpenModels()
  let transport: Promise<ProviderTransport> | undefined
  const way = (): Promise<ProviderTransport> =>
    (transport ??= import('../http/provider-requests.ts').then((module) => module.openProviderTransport()))

  function traits(provider: Provider, name: string): ModelTraits {
    return modelCapabilities(
      provider,
      name,
      knownModels.get(provider.name)?.find((one) => one.name === name),
    )
  }

  async function open(full: string): Promise<Model> {
    const { provider, name } = openModel(full, providers)
    requireKey(provider, full)
    const known = traits(provider, name)
    return kept.of(JSON.stringify([full, known]), () => make(full, known))
  }

  async function make(full: string, known: ModelTraits): Promise<Model> {
    const { provider, name } = openModel(full, providers)
    const [carried, { explainNonStream, modelOf }] = await Promise.all([way(), import('../model.ts')])
    const dialect = await speak({ provider, name, traits: known, fetch: explainNonStream(carried.fetch) })
    const { maxOutputTokens } = provider.models.find((one) => one.name === name) ?? {}
    return modelOf({ provider, name: full, traits: known, maxOutputTokens, dialect, transport: carried, clock })
  }

  async function source(provider: Provider, limit: RequestLimit): Promise<ModelSource> {
    const { name, title } = provider
    const written = provider.models.map((one) => listing(provider, one.name))
    if (lacksKey(provider)) return { provider: name, title, models: [], reason: `Set ${whereKey(provider)} to use it.` }
    const answer = await listed(provider, limit)
    if ('reason' in answer) {
      if (answer.isThere === true && written.length > 0) return { provider: name, title, models: written }
      return { provider: name, title, models: [], reason: answer.reason }
    }
    knownModels.set(name, answer.models)
    const offered = answer.models.map((one) => listing(provider, one.name))
    const others = offered.filter((one) => !written.some((known) => known.name === one.name))
    return { provider: name, title, models: [...written, ...others] }
  }

  /** Most machines run no model server. A plain TCP probe finds that out without loading the HTTP client, a megabyte of code. */
  async function listed(provider: Provider, limit: RequestLimit): Promise<ModelsFound> {
    if (transport === undefined && provider.isLocal && (await isPortClosed(provider.url, limit.limitMs, clock)))
      return { reason: NOTHING_LISTENS }
    const { fetch } = await way()
    return await listModels(provider, { ...limit, fetch, clock })
  }

  function listing(provider: Provider, name: string): ModelListing {
    return { name: `${provider.name}:${name}`, title: name, ...traits(provider, name) }
  }

  return {
    discover: (most, signal) =>
      Promise.all(providers.map((one) => source(one, { limitMs: requestLimitOf(one, providers, most), signal }))),
    get preset() {
      return preset ?? presetOf(providers, knownModels)
    },
    open,
    about(full) {
      const { provider, name } = openModel(full, providers)
      return traits(provider, name)
    },
    async close() {
      await (await transport)?.close()
    },
  }
}

/** How long an unconfigured server on a usual port may delay the list. Milliseconds. */
const PROBE_TIMEOUT_MS = 1_000

/** Any program may listen on that port. A user who names the provider gives it more time. */
function requestLimitOf(provider: Provider, { length }: readonly Provider[], most: number): number {
  const isFound = provider.isLocal && !provider.isConfigured && provider.keyNames.length === 0
  return isFound && length > 1 ? Math.min(most, PROBE_TIMEOUT_MS) : most
}

/** Models that stay open. A further one costs some milliseconds, because its package is set up again. */
const MAX_OPEN_MODELS = 16

/** Opened models are cached: a package compiles its response schemas for each model, which takes longer than most steps. */
class OpenModels {
  readonly #models = new LruMap<string, Promise<Model>>(MAX_OPEN_MODELS)

  of(key: string, make: () => Promise<Model>): Promise<Model> {
    const model = this.#models.getOrMake(key, make)
    // A model that could not be opened is tried again next time.
    model.catch(() => this.#models.delete(key))
    return model
  }
}

/** Throws MODEL_UNKNOWN. A name may hold colons: `ollama:llama3.3:70b`. */
function openModel(
  full: string,
  providers: readonly Provider[],
): { readonly provider: Provider; readonly name: string } {
  const colon = full.indexOf(':')
  const [before, name] = [full.slice(0, Math.max(0, colon)), full.slice(colon + 1)]
  if (before === '' || name === '')
    return fail('MODEL_UNKNOWN', { model: full, reason: 'a model is written PROVIDER:NAME' })
  const provider = providers.find((one) => one.name === before)
  if (provider === undefined)
    return fail('MODEL_UNKNOWN', { model: full, reason: `no provider is called ${JSON.stringify(before)}` })
  return { provider, name }
}

function requireKey(provider: Provider, model: string): void {
  if (lacksKey(provider)) fail('MODEL_KEY_MISSING', { model, provider: provider.title, variable: whereKey(provider) })
}

function lacksKey({ key, keyNames }: Provider): boolean {
  return key === undefined && keyNames.length > 0
}

/** A provider with a key, else a model server of this machine; of each the most suitable model. */
function presetOf(
  providers: readonly Provider[],
  knownModels: ReadonlyMap<string, readonly KnownModel[]>,
): string | undefined {
  const keyed = providers.filter((one) => !lacksKey(one) && (one.isConfigured || !one.isLocal))
  const found = providers.filter((one) => one.isLocal && (knownModels.get(one.name) ?? []).length > 0)
  for (const provider of [...keyed, ...found]) {
    const name = preferredOf(provider, knownModels.get(provider.name) ?? [])
    if (name !== undefined) return `${provider.name}:${name}`
  }
  return undefined
}

function preferredOf({ preferred, models }: Provider, knownModels: readonly KnownModel[]): string | undefined {
  if (models[0] !== undefined) return models[0].name
  const isThere = knownModels.length === 0 || knownModels.some(({ name }) => name === preferred)
  return preferred !== undefined && isThere ? preferred : knownModels[0]?.name
}

/** Each package is loaded when its first model is opened. */
const protocols: Readonly<Record<ProviderKind, () => Promise<(speaking: ModelOptions) => ProviderProtocol>>> = {
  openai: async () => (await import('../protocol/openai-compatible.ts')).openaiCompatible,
  anthropic: async () => (await import('../protocol/anthropic.ts')).anthropic,
  google: async () => (await import('../protocol/google.ts')).google,
}

async function speak(speaking: ModelOptions): Promise<ProviderProtocol> {
  const dialect = await protocols[speaking.provider.kind]()
  return dialect(speaking)
}

interface CapabilityRow {
  readonly name: RegExp
  readonly contextWindow?: number
  readonly images?: boolean
  readonly audio?: boolean
  readonly efforts?: readonly string[]
  /** US dollars for a million tokens: input, output, read from a cache, written to one. */
  readonly price?: readonly [number, number, number, number]
}

const THREE_LEVELS = ['low', 'medium', 'high'] as const
const FOUR_LEVELS = ['minimal', ...THREE_LEVELS] as const
const WITH_OFF = ['off', ...THREE_LEVELS] as const
const MILLION = 1_048_576

/** The first match counts. Prices are listed only if one price holds for every length of context. */
const CAPABILITY_ROWS: readonly CapabilityRow[] = [
  {
    name: /claude-(?:opus|sonnet|haiku|fable)-(?:[5-9]|\d\d)/u,
    contextWindow: 200_000,
    images: true,
    efforts: [...THREE_LEVELS, 'max'],
  },
  {
    name: /claude-opus-4[-.][6-9]/u,
    contextWindow: 200_000,
    images: true,
    efforts: [...THREE_LEVELS, 'max'],
    price: [5, 25, 0.5, 6.25],
  },
  { name: /claude-sonnet-4[-.][6-9]/u, contextWindow: 200_000, images: true, efforts: [...THREE_LEVELS, 'max'] },
  { name: /claude-opus-4[-.]5/u, contextWindow: 200_000, images: true, efforts: WITH_OFF, price: [5, 25, 0.5, 6.25] },
  { name: /claude-opus-4/u, contextWindow: 200_000, images: true, efforts: WITH_OFF, price: [15, 75, 1.5, 18.75] },
  { name: /claude-sonnet-4/u, contextWindow: 200_000, images: true, efforts: WITH_OFF, price: [3, 15, 0.3, 3.75] },
  { name: /claude-haiku-4[-.]5/u, contextWindow: 200_000, images: true, efforts: WITH_OFF, price: [1, 5, 0.1, 1.25] },
  { name: /claude/u, images: true },
  {
    name: /gpt-5(?:\.\d)?-nano/u,
    contextWindow: 400_000,
    images: true,
    efforts: FOUR_LEVELS,
    price: [0.05, 0.4, 0.005, 0],
  },
  {
    name: /gpt-5(?:\.\d)?-mini/u,
    contextWindow: 400_000,
    images: true,
    efforts: FOUR_LEVELS,
    price: [0.25, 2, 0.025, 0],
  },
  { name: /gpt-5(?:-20|$)/u, contextWindow: 400_000, images: true, efforts: FOUR_LEVELS, price: [1.25, 10, 0.125, 0] },
  {
    name: /gpt-5\.1/u,
    contextWindow: 400_000,
    images: true,
    efforts: ['none', ...THREE_LEVELS],
    price: [1.25, 10, 0.125, 0],
  },
  { name: /gpt-5/u, contextWindow: 400_000, images: true, efforts: THREE_LEVELS },
  { name: /gpt-4\.1-mini/u, contextWindow: 1_047_576, images: true, price: [0.4, 1.6, 0.1, 0] },
  { name: /gpt-4\.1/u, contextWindow: 1_047_576, images: true },
  { name: /gpt-4o-mini/u, contextWindow: 128_000, images: true, price: [0.15, 0.6, 0.075, 0] },
  { name: /gpt-4o/u, contextWindow: 128_000, images: true, price: [2.5, 10, 1.25, 0] },
  { name: /\bo4-mini/u, contextWindow: 200_000, images: true, efforts: THREE_LEVELS, price: [1.1, 4.4, 0.275, 0] },
  { name: /\bo3(?:-20|$)/u, contextWindow: 200_000, images: true, efforts: THREE_LEVELS, price: [2, 8, 0.5, 0] },
  { name: /gpt-oss/u, contextWindow: 131_072, efforts: THREE_LEVELS },
  { name: /gemini-2\.5-pro/u, contextWindow: MILLION, images: true, audio: true, efforts: THREE_LEVELS },
  {
    name: /gemini-2\.5-flash(?!-)/u,
    contextWindow: MILLION,
    images: true,
    audio: true,
    efforts: WITH_OFF,
    price: [0.3, 2.5, 0.03, 0],
  },
  { name: /gemini-2\.5/u, contextWindow: MILLION, images: true, audio: true, efforts: WITH_OFF },
  { name: /gemini-[3-9].*flash/u, contextWindow: MILLION, images: true, audio: true, efforts: FOUR_LEVELS },
  { name: /gemini-[3-9]/u, contextWindow: MILLION, images: true, audio: true, efforts: ['low', 'high'] },
  { name: /gemini-flash(?:-lite)?-latest/u, contextWindow: MILLION, images: true, audio: true, efforts: FOUR_LEVELS },
  { name: /gemini-2\.0/u, contextWindow: MILLION, images: true, audio: true },
  { name: /grok-4/u, contextWindow: 256_000, images: true },
  { name: /grok-3-mini/u, contextWindow: 131_072, efforts: ['low', 'high'] },
  { name: /grok-(?:3|code)/u, contextWindow: 131_072 },
  { name: /deepseek-(?:chat|reasoner|v3)/u, contextWindow: 128_000 },
  { name: /mistral-(?:large|medium|small)|devstral/u, contextWindow: 128_000 },
  { name: /codestral/u, contextWindow: 256_000 },
  { name: /llama-?3\.[123]/u, contextWindow: 128_000 },
  { name: /llama-?4|pixtral|llava|qwen.*vl|gemma-?3|vision/u, images: true },
]

const UNKNOWN: CapabilityRow = { name: /^/u }

/** From the configuration, else from the provider's list, else from the model's name. */
function modelCapabilities(provider: Provider, name: string, knownModels: KnownModel | undefined): ModelTraits {
  const row = CAPABILITY_ROWS.find((one) => one.name.test(name.toLowerCase())) ?? UNKNOWN
  const written = provider.models.find((one) => one.name === name)
  const image = written?.images ?? knownModels?.images ?? row.images ?? false
  const contextWindow = written?.contextWindow ?? knownModels?.contextWindow ?? windowOf(row, provider)
  const price = written?.price ?? knownModels?.price ?? priceOf(row, provider)
  return {
    accepts: { image, audio: row.audio ?? false, embeddedContext: true },
    efforts: written?.efforts ?? knownModels?.efforts ?? row.efforts ?? [],
    ...(contextWindow !== undefined && { contextWindow }),
    ...(price !== undefined && { price }),
  }
}

/** Local servers reduce the context window to what they were started with. */
function windowOf(row: CapabilityRow, provider: Provider): number | undefined {
  return provider.isLocal ? undefined : row.contextWindow
}

/** The listed price holds only at the model's own provider. */
function priceOf({ price }: CapabilityRow, provider: Provider): ModelPrice | undefined {
  const isMaker = ['anthropic', 'openai', 'google'].includes(provider.name) && !provider.isLocal
  if (price === undefined || !isMaker) return undefined
  const [input, output, cacheRead, cacheWrite] = price
  return { currency: 'USD', input, output, cacheRead, cacheWrite: cacheWrite === 0 ? input : cacheWrite }
}
