/** A provider of models as it is configured: address, wire format, key and what is known of its models. */
import type { ModelPrice } from '../model.ts'

/** The three wire formats. */
export type ProviderKind = 'openai' | 'anthropic' | 'google'

export interface Provider {
  /** The part of a model's name before the colon. */
  readonly name: string
  readonly title: string
  readonly kind: ProviderKind
  /** With the version in its path, without a trailing slash. */
  readonly url: string
  /** On this machine: it needs no key, and may take long before the first token. */
  readonly isLocal: boolean
  readonly key: string | undefined
  /** Environment variables that may hold the key; the first one is named to users. Empty: no key is needed. */
  readonly keyNames: readonly string[]
  readonly headers: Readonly<Record<string, string>>
  /** Models that the configuration describes. */
  readonly models: readonly KnownModel[]
  /** The user configured it or set its key. */
  readonly isConfigured: boolean
  /** How long it may be silent; default: by the kind of provider. */
  readonly idleSeconds?: number
  /** The default model. */
  readonly preferred?: string
}

export interface KnownModel {
  readonly name: string
  readonly contextWindow?: number
  readonly maxOutputTokens?: number
  readonly images?: boolean
  readonly efforts?: readonly string[]
  readonly price?: ModelPrice
}
