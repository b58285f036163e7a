/** Which models there are: those of configured and well-known providers, and of servers on this machine. */
import { explainNonStream } from '../stream/collect.ts'
import { LruMap } from '../../../async/lru.ts'
import { fail } from '../../../errors/parley-error.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { Model, ModelListing, Models, ModelSource, ModelTraits, ModelPrice } from '../../../ports/model.ts'
import type { Signal } from '../../../ports/signal.ts'
import type { ProviderProtocol, Speaking } from '../protocol/provider-protocol.ts'
import { isPortClosed, type Listed, listModels, NOBODY } from './list.ts'
import { isLocal, type KnownModel, type Provider, type ProviderKind, whereKey } from './provider.ts'
import type { Transport } from '../http/transport.ts'

interface ModelsOptions {
  /** In the order in which they are asked and preferred: configured ones first. */
  readonly providers: readonly Provider[]
  /** What somebody chose. */
  readonly preset?: string | undefined
  readonly clock: Clock
}

export interface OwnedModels extends Models {
  /** Cuts what is being asked. Idempotent. */
  close(): Promise<void>
}

interface Limit {
  readonly limitMs: number
  readonly signal: Signal
}

export function openModels({ providers, preset, clock }: ModelsOptions): OwnedModels {
  /** What providers told of their models, by provider. */
  const told = new Map<string, readonly KnownModel[]>()
  const kept = new Kept()
  let transport: Promise<Transport> | undefined
  const way = (): Promise<Transport> =>
    (transport ??= import('../http/transport.ts').then((module) => module.openTransport()))

  function traits(provider: Provider, name: string): ModelTraits {
    return modelCapabilities(
      provider,
      name,
      told.get(provider.name)?.find((one) => one.name === name),
    )
  }

  async function open(full: string): Promise<Model> {
    const { provider, name } = found(full, providers)
    requireKey(provider, full)
    const known = traits(provider, name)
    return kept.of(JSON.stringify([full, known]), () => make(full, known))
  }

  async function make(full: string, known: ModelTraits): Promise<Model> {
    const { provider, name } = found(full, providers)
    const [carried, { modelOf }] = await Promise.all([way(), import('../model.ts')])
    const dialect = await speak({ provider, name, traits: known, fetch: explainNonStream(carried.fetch) })
    const { maxOutputTokens } = provider.models.find((one) => one.name === name) ?? {}
    return modelOf({ provider, name: full, traits: known, maxOutputTokens, dialect, transport: carried, clock })
  }

  async function source(provider: Provider, limit: Limit): Promise<ModelSource> {
    const { name, title } = provider
    const written = provider.models.map((one) => listing(provider, one.name))
    if (lacksKey(provider)) return { provider: name, title, models: [], reason: `Set ${whereKey(provider)} to use it.` }
    const answer = await listed(provider, limit)
    if ('reason' in answer) {
      if (answer.isThere === true && written.length > 0) return { provider: name, title, models: written }
      return { provider: name, title, models: [], reason: answer.reason }
    }
    told.set(name, answer.models)
    const offered = answer.models.map((one) => listing(provider, one.name))
    const others = offered.filter((one) => !written.some((known) => known.name === one.name))
    return { provider: name, title, models: [...written, ...others] }
  }

  /** Most machines serve no model: to know that takes no HTTP client, which is a megabyte of code. */
  async function listed(provider: Provider, limit: Limit): Promise<Listed> {
    if (transport === undefined && isLocal(provider) && (await isPortClosed(provider.url, limit.limitMs, clock)))
      return { reason: NOBODY }
    const { fetch } = await way()
    return await listModels(provider, { ...limit, fetch, clock })
  }

  function listing(provider: Provider, name: string): ModelListing {
    return { name: `${provider.name}:${name}`, title: name, ...traits(provider, name) }
  }

  return {
    discover: (most, signal) =>
      Promise.all(providers.map((one) => source(one, { limitMs: limitOf(one, providers, most), signal }))),
    get preset() {
      return preset ?? presetOf(providers, told)
    },
    open,
    about(full) {
      const { provider, name } = found(full, providers)
      return traits(provider, name)
    },
    async close() {
      await (await transport)?.close()
    },
  }
}

/** How long something on a usual port, that nobody has written down, keeps the others from being told of. Milliseconds. */
const GLANCE = 1_000

/** It may be anything that listens there; whoever asks for it alone gives it its time. */
function limitOf(provider: Provider, { length }: readonly Provider[], most: number): number {
  const isFound = isLocal(provider) && !provider.isConfigured && provider.keyNames.length === 0
  return isFound && length > 1 ? Math.min(most, GLANCE) : most
}

/** Models that are kept open; whoever talks to more of them at once waits some milliseconds for a package to make one anew. */
const MOST_KEPT = 16

/** Opened models: a package compiles what it expects of answers anew for each, which takes longer than most steps need. */
class Kept {
  readonly #models = new LruMap<string, Promise<Model>>(MOST_KEPT)

  of(key: string, make: () => Promise<Model>): Promise<Model> {
    const model = this.#models.getOrMake(key, make)
    // What could not be opened is tried anew.
    model.catch(() => this.#models.delete(key))
    return model
  }
}

/** Throws MODEL_UNKNOWN. A name may hold colons: `ollama:llama3.3:70b`. */
function found(full: string, providers: readonly Provider[]): { readonly provider: Provider; readonly name: string } {
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

/** A provider with a key, else a server of this machine that was found; each with the model that suits best. */
function presetOf(
  providers: readonly Provider[],
  told: ReadonlyMap<string, readonly KnownModel[]>,
): string | undefined {
  const keyed = providers.filter((one) => !lacksKey(one) && (one.isConfigured || !isLocal(one)))
  const found = providers.filter((one) => isLocal(one) && (told.get(one.name) ?? []).length > 0)
  for (const provider of [...keyed, ...found]) {
    const name = preferredOf(provider, told.get(provider.name) ?? [])
    if (name !== undefined) return `${provider.name}:${name}`
  }
  return undefined
}

function preferredOf({ preferred, models }: Provider, told: readonly KnownModel[]): string | undefined {
  if (models[0] !== undefined) return models[0].name
  const isThere = told.length === 0 || told.some(({ name }) => name === preferred)
  return preferred !== undefined && isThere ? preferred : told[0]?.name
}

/** Each package is loaded when its first model is opened. */
const dialects: Readonly<Record<ProviderKind, () => Promise<(speaking: Speaking) => ProviderProtocol>>> = {
  openai: async () => (await import('../protocol/openai-compatible.ts')).openaiCompatible,
  anthropic: async () => (await import('../protocol/anthropic.ts')).anthropic,
  google: async () => (await import('../protocol/google.ts')).google,
}

async function speak(speaking: Speaking): Promise<ProviderProtocol> {
  const dialect = await dialects[speaking.provider.kind]()
  return dialect(speaking)
}

interface Row {
  readonly name: RegExp
  readonly contextWindow?: number
  readonly images?: boolean
  readonly audio?: boolean
  readonly efforts?: readonly string[]
  /** US dollars for a million tokens: input, output, read from a cache, written to one. */
  readonly price?: readonly [number, number, number, number]
}

const THREE = ['low', 'medium', 'high'] as const
const FOUR = ['minimal', ...THREE] as const
const WITH_OFF = ['off', ...THREE] as const
const MILLION = 1_048_576

/** The first that fits counts. Prices only where one price holds for every length. */
const ROWS: readonly Row[] = [
  {
    name: /claude-(?:opus|sonnet|haiku|fable)-(?:[5-9]|\d\d)/u,
    contextWindow: 200_000,
    images: true,
    efforts: [...THREE, 'max'],
  },
  {
    name: /claude-opus-4[-.][6-9]/u,
    contextWindow: 200_000,
    images: true,
    efforts: [...THREE, 'max'],
    price: [5, 25, 0.5, 6.25],
  },
  { name: /claude-sonnet-4[-.][6-9]/u, contextWindow: 200_000, images: true, efforts: [...THREE, 'max'] },
  { name: /claude-opus-4[-.]5/u, contextWindow: 200_000, images: true, efforts: WITH_OFF, price: [5, 25, 0.5, 6.25] },
  { name: /claude-opus-4/u, contextWindow: 200_000, images: true, efforts: WITH_OFF, price: [15, 75, 1.5, 18.75] },
  { name: /claude-sonnet-4/u, contextWindow: 200_000, images: true, efforts: WITH_OFF, price: [3, 15, 0.3, 3.75] },
  { name: /claude-haiku-4[-.]5/u, contextWindow: 200_000, images: true, efforts: WITH_OFF, price: [1, 5, 0.1, 1.25] },
  { name: /claude/u, images: true },
  { name: /gpt-5(?:\.\d)?-nano/u, contextWindow: 400_000, images: true, efforts: FOUR, price: [0.05, 0.4, 0.005, 0] },
  { name: /gpt-5(?:\.\d)?-mini/u, contextWindow: 400_000, images: true, efforts: FOUR, price: [0.25, 2, 0.025, 0] },
  { name: /gpt-5(?:-20|$)/u, contextWindow: 400_000, images: true, efforts: FOUR, price: [1.25, 10, 0.125, 0] },
  { name: /gpt-5\.1/u, contextWindow: 400_000, images: true, efforts: ['none', ...THREE], price: [1.25, 10, 0.125, 0] },
  { name: /gpt-5/u, contextWindow: 400_000, images: true, efforts: THREE },
  { name: /gpt-4\.1-mini/u, contextWindow: 1_047_576, images: true, price: [0.4, 1.6, 0.1, 0] },
  { name: /gpt-4\.1/u, contextWindow: 1_047_576, images: true },
  { name: /gpt-4o-mini/u, contextWindow: 128_000, images: true, price: [0.15, 0.6, 0.075, 0] },
  { name: /gpt-4o/u, contextWindow: 128_000, images: true, price: [2.5, 10, 1.25, 0] },
  { name: /\bo4-mini/u, contextWindow: 200_000, images: true, efforts: THREE, price: [1.1, 4.4, 0.275, 0] },
  { name: /\bo3(?:-20|$)/u, contextWindow: 200_000, images: true, efforts: THREE, price: [2, 8, 0.5, 0] },
  { name: /gpt-oss/u, contextWindow: 131_072, efforts: THREE },
  { name: /gemini-2\.5-pro/u, contextWindow: MILLION, images: true, audio: true, efforts: THREE },
  {
    name: /gemini-2\.5-flash(?!-)/u,
    contextWindow: MILLION,
    images: true,
    audio: true,
    efforts: WITH_OFF,
    price: [0.3, 2.5, 0.03, 0],
  },
  { name: /gemini-2\.5/u, contextWindow: MILLION, images: true, audio: true, efforts: WITH_OFF },
  { name: /gemini-[3-9].*flash/u, contextWindow: MILLION, images: true, audio: true, efforts: FOUR },
  { name: /gemini-[3-9]/u, contextWindow: MILLION, images: true, audio: true, efforts: ['low', 'high'] },
  { name: /gemini-flash(?:-lite)?-latest/u, contextWindow: MILLION, images: true, audio: true, efforts: FOUR },
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

const UNKNOWN: Row = { name: /^/u }

/** What a person wrote down, else what the provider told of itself, else what its name says. */
function modelCapabilities(provider: Provider, name: string, told: KnownModel | undefined): ModelTraits {
  const row = ROWS.find((one) => one.name.test(name.toLowerCase())) ?? UNKNOWN
  const written = provider.models.find((one) => one.name === name)
  const image = written?.images ?? told?.images ?? row.images ?? false
  const contextWindow = written?.contextWindow ?? told?.contextWindow ?? windowOf(row, provider)
  const price = written?.price ?? told?.price ?? priceOf(row, provider)
  return {
    accepts: { image, audio: row.audio ?? false, embeddedContext: true },
    efforts: written?.efforts ?? told?.efforts ?? row.efforts ?? [],
    ...(contextWindow !== undefined && { contextWindow }),
    ...(price !== undefined && { price }),
  }
}

/** Servers of this machine cut the window to what they were started with. */
function windowOf(row: Row, provider: Provider): number | undefined {
  return isLocal(provider) ? undefined : row.contextWindow
}

/** Only whoever made a model asks the price that is written here. */
function priceOf({ price }: Row, provider: Provider): ModelPrice | undefined {
  const isMaker = ['anthropic', 'openai', 'google'].includes(provider.name) && !isLocal(provider)
  if (price === undefined || !isMaker) return undefined
  const [input, output, cacheRead, cacheWrite] = price
  return { currency: 'USD', input, output, cacheRead, cacheWrite: cacheWrite === 0 ? input : cacheWrite }
}
