/** Google's Gemini: thinking by level or by budget. */
import { createGoogleGenerativeAI } from '@ai-sdk/google'
import type { LanguageModelV3CallOptions } from '@ai-sdk/provider'
import type { ModelRequest } from '../../../ports/model.ts'
import type { ProviderProtocol, ModelOptions } from './provider-protocol.ts'

export function google({ provider, name, fetch, traits }: ModelOptions): ProviderProtocol {
  const made = createGoogleGenerativeAI({
    baseURL: provider.url,
    // Without a key the package would read the environment.
    apiKey: provider.key ?? 'none',
    headers: { ...provider.headers },
    fetch,
  })
  const thinks = traits.efforts.length > 0
  return {
    model: made.languageModel(name),
    picturesInResults: true,
    pdf: true,
    thoughts: true,
    // Older models refuse it otherwise; Gemini 3 reads text directly after results as part of them.
    turns: true,
    dressed: (plain, request) => (thinks ? withProviderOptions(plain, request, name) : plain),
  }
}

const THINKING_BUDGETS: Readonly<Record<string, number>> = { off: 0, low: 1024, medium: 8192, high: 24_576 }

function withProviderOptions(
  plain: LanguageModelV3CallOptions,
  { effort }: ModelRequest,
  name: string,
): LanguageModelV3CallOptions {
  const thinkingConfig = { includeThoughts: effort !== 'off', ...thinkingConfigOf(name, effort) }
  return { ...plain, providerOptions: { google: { thinkingConfig } } }
}

/** Gemini 2.5 takes a token budget; later models take levels. */
function thinkingConfigOf(name: string, effort: string | undefined): Readonly<Record<string, number | string>> {
  if (effort === undefined) return {}
  if (!/gemini-2/u.test(name)) return { thinkingLevel: effort }
  const thinkingBudget = THINKING_BUDGETS[effort]
  return thinkingBudget === undefined ? {} : { thinkingBudget }
}
