/** Google's Gemini: thinking by level or by budget. */
import { createGoogleGenerativeAI } from '@ai-sdk/google'
import type { LanguageModelV3CallOptions } from '@ai-sdk/provider'
import type { ModelRequest } from '../../../ports/model.ts'
import type { ProviderProtocol, Speaking } from './provider-protocol.ts'

export function google({ provider, name, fetch, traits }: Speaking): ProviderProtocol {
  const made = createGoogleGenerativeAI({
    baseURL: provider.url,
    // Without one the package would look into the environment.
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
    // Old models refuse it otherwise; Gemini 3 takes words right behind results for a part of them.
    turns: true,
    dressed: (plain, request) => (thinks ? dressed(plain, request, name) : plain),
  }
}

const BUDGETS: Readonly<Record<string, number>> = { off: 0, low: 1024, medium: 8192, high: 24_576 }

function dressed(
  plain: LanguageModelV3CallOptions,
  { effort }: ModelRequest,
  name: string,
): LanguageModelV3CallOptions {
  const thinkingConfig = { includeThoughts: effort !== 'off', ...depth(name, effort) }
  return { ...plain, providerOptions: { google: { thinkingConfig } } }
}

/** Gemini 2.5 counts tokens; what came after knows levels. */
function depth(name: string, effort: string | undefined): Readonly<Record<string, number | string>> {
  if (effort === undefined) return {}
  if (!/gemini-2/u.test(name)) return { thinkingLevel: effort }
  const thinkingBudget = BUDGETS[effort]
  return thinkingBudget === undefined ? {} : { thinkingBudget }
}
