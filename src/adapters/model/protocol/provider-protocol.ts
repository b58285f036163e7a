/** The differences between the three wire formats: how a model is created, what it accepts, and how reasoning is requested. */
import type { LanguageModelV3, LanguageModelV3CallOptions, SharedV3ProviderMetadata } from '@ai-sdk/provider'
import type { ModelRequest, ModelTraits } from '../../../ports/model.ts'
import type { Provider } from '../../../ports/values/provider.ts'

export interface ProviderProtocol {
  readonly model: LanguageModelV3
  readonly picturesInResults: boolean
  readonly pdf: boolean
  readonly thoughts: boolean
  /** User and assistant messages must alternate. */
  readonly turns: boolean
  /** Adds this format's own fields to a request: effort, caching, limits. */
  dressed(plain: LanguageModelV3CallOptions, request: ModelRequest): LanguageModelV3CallOptions
  /** Whether an error that its package reports can be ignored. */
  readonly passesOver?: (error: unknown) => boolean
  /** A refusal that its package reports beside the text, from what comes with the end. */
  readonly refusalIn?: (metadata: SharedV3ProviderMetadata) => string | undefined
}

export interface ModelOptions {
  readonly provider: Provider
  /** The model's name at its provider. */
  readonly name: string
  readonly traits: ModelTraits
  readonly fetch: typeof globalThis.fetch
}
