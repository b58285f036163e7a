/** A provider as it is configured: where it is, how it is spoken to, and what is known of its models. */
import type { ModelPrice } from '../../../ports/model.ts'

/** The three wire formats. */
export type ProviderKind = 'openai' | 'anthropic' | 'google'

export interface Provider {
  /** What stands before the colon. */
  readonly name: string
  readonly title: string
  readonly kind: ProviderKind
  /** With the version in its path, without a slash at its end. */
  readonly url: string
  readonly key: string | undefined
  /** Where the key is looked for; the first is told to people. Empty: none is needed. */
  readonly keyNames: readonly string[]
  readonly headers: Readonly<Record<string, string>>
  /** What the configuration says of models, by their names. */
  readonly models: readonly KnownModel[]
  /** Somebody wrote it down, or gave it a key. */
  readonly isConfigured: boolean
  /** How long it may be silent; what its kind is given if absent. */
  readonly idleSeconds?: number
  /** Which model is chosen where nobody has chosen. */
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

/** Servers of this machine: they need no key, and take their time before the first word. */
export function isLocal({ url }: Provider): boolean {
  return /^https?:\/\/(?:127(?:\.\d+){3}|localhost|\[::1\])(?=[:/]|$)/u.test(url)
}

/** What people are told to set. */
export function whereKey({ keyNames, name }: Provider): string {
  return keyNames[0] ?? `the key of [providers.${name}]`
}
