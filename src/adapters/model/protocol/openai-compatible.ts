/** Chat completions, as OpenAI made them and most others took them over. */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import type { LanguageModelV3CallOptions } from '@ai-sdk/provider'
import type { ModelRequest } from '../../../ports/model.ts'
import type { ProviderProtocol, Speaking } from './provider-protocol.ts'

/** The package gives the signatures of calls back under this name only. */
const NAME = 'google'

/** These refuse a request that holds the thoughts of the model. */
const WITHOUT_THOUGHTS: ReadonlySet<string> = new Set(['api.openai.com', 'api.mistral.ai', 'api.groq.com', 'api.x.ai'])

export function openaiCompatible({ provider, name, fetch }: Speaking): ProviderProtocol {
  const { hostname } = new URL(provider.url)
  const isOpenAI = hostname === 'api.openai.com'
  const made = createOpenAICompatible({
    name: NAME,
    baseURL: provider.url,
    ...(provider.key !== undefined && { apiKey: provider.key }),
    headers: { ...provider.headers },
    fetch,
    includeUsage: true,
    transformRequestBody: isOpenAI ? inNewWords : (body) => body,
  })
  return {
    model: made.chatModel(name),
    picturesInResults: false,
    pdf: isOpenAI || hostname === 'openrouter.ai',
    // Mistral takes no words of people right behind results; templates of local models take no two in a row.
    turns: !isOpenAI,
    thoughts: !WITHOUT_THOUGHTS.has(hostname),
    dressed: (plain, request) => dressed(plain, request, isOpenAI),
  }
}

function dressed(
  plain: LanguageModelV3CallOptions,
  request: ModelRequest,
  isOpenAI: boolean,
): LanguageModelV3CallOptions {
  const own = {
    ...(request.effort !== undefined && { reasoningEffort: request.effort }),
    // Requests of one session meet the machine that has its beginning cached.
    ...(isOpenAI && { prompt_cache_key: request.session }),
  }
  return Object.keys(own).length === 0 ? plain : { ...plain, providerOptions: { [NAME]: own } }
}

/** The models of OpenAI that think refuse the old word. */
function inNewWords({ max_tokens: limit, ...body }: Record<string, unknown>): Record<string, unknown> {
  return limit === undefined ? body : { ...body, max_completion_tokens: limit }
}
