/** What a provider wants back with what it said: it goes only to the provider that it came from. */
import type { SharedV3ProviderMetadata } from '@ai-sdk/provider'

export interface ProviderMetadata {
  /** The name of the provider. */
  readonly from: string
  /** What it called a tool call. */
  readonly id?: string
  readonly metadata?: SharedV3ProviderMetadata
}

/** Undefined for what another provider said, or a journal from elsewhere. */
export function ofProvider(kept: unknown, provider: string): ProviderMetadata | undefined {
  if (typeof kept !== 'object' || kept === null) return undefined
  const keepsake = kept as ProviderMetadata
  return keepsake.from === provider ? keepsake : undefined
}
