/** Which models there are: those of configured and well-known providers, and of servers on this machine. */
import { explainNonStream } from '../stream/collect.ts'
import { LruMap } from '../../../async/lru.ts'
import { fail } from '../../../errors/parley-error.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { Model, ModelListing, Models, ModelSource, ModelTraits } from '../../../ports/model.ts'
import type { Signal } from '../../../ports/signal.ts'
import type { ProviderProtocol, Speaking } from '../protocol/provider-protocol.ts'
import { isPortClosed, type Listed, listModels, NOBODY } from './list.ts'
import { isLocal, type KnownModel, type Provider, type ProviderKind, whereKey } from './provider.ts'
import { modelCapabilities } from './model-capabilities.ts'
import type { Transport } from '../http/transport.ts'

export interface ModelsOptions {
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
