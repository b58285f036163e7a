/** What is known of models by their names, as of 2026-11. What is not known is left out; what a provider or a person says comes first. */
import type { ModelPrice, ModelTraits } from '../../../ports/model.ts'
import { type KnownModel, type Provider, isLocal } from './provider.ts'

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
export function modelCapabilities(provider: Provider, name: string, told: KnownModel | undefined): ModelTraits {
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
