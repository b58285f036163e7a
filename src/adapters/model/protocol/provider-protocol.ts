/** What is different between the three wire formats: how a model is made, what it takes, and how it is asked to think. */
import type { LanguageModelV3, LanguageModelV3CallOptions } from '@ai-sdk/provider'
import type { ModelRequest, ModelTraits } from '../../../ports/model.ts'
import type { Provider } from '../providers/provider.ts'

export interface ProviderProtocol {
  readonly model: LanguageModelV3
  readonly picturesInResults: boolean
  readonly pdf: boolean
  readonly thoughts: boolean
  /** Roles must take turns. */
  readonly turns: boolean
  /** What this format adds to a request: effort, caching, limits. */
  dressed(plain: LanguageModelV3CallOptions, request: ModelRequest): LanguageModelV3CallOptions
  /** Whether what its package takes for an error is nothing that anybody needs. */
  readonly passesOver?: (error: unknown) => boolean
}

export interface Speaking {
  readonly provider: Provider
  /** As its provider calls it. */
  readonly name: string
  readonly traits: ModelTraits
  readonly fetch: typeof globalThis.fetch
}
