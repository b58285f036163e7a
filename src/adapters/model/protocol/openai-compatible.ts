/** The chat completions format of OpenAI, which most other providers use too. */
import { createOpenAICompatible, type MetadataExtractor } from '@ai-sdk/openai-compatible'
import type { LanguageModelV3CallOptions } from '@ai-sdk/provider'
import type { ModelRequest } from '../../../ports/model.ts'
import type { ProviderProtocol, ModelOptions } from './provider-protocol.ts'

/** The package returns signatures of tool calls only under this name. */
const METADATA_NAME = 'google'

/** These providers refuse requests that contain reasoning. */
const PROVIDERS_WITHOUT_REASONING: ReadonlySet<string> = new Set([
  'api.openai.com',
  'api.mistral.ai',
  'api.groq.com',
  'api.x.ai',
])

export function openaiCompatible({ provider, name, fetch }: ModelOptions): ProviderProtocol {
  const { hostname } = new URL(provider.url)
  const isOpenAI = hostname === 'api.openai.com'
  const made = createOpenAICompatible({
    name: METADATA_NAME,
    baseURL: provider.url,
    ...(provider.key !== undefined && { apiKey: provider.key }),
    headers: { ...provider.headers },
    fetch,
    includeUsage: true,
    metadataExtractor: refusals,
    transformRequestBody: isOpenAI ? withNewParameters : (body) => body,
  })
  return {
    model: made.chatModel(name),
    picturesInResults: false,
    pdf: isOpenAI || hostname === 'openrouter.ai',
    // Mistral refuses a user message directly after tool results; templates of local models refuse two user messages in a row.
    turns: !isOpenAI,
    thoughts: !PROVIDERS_WITHOUT_REASONING.has(hostname),
    dressed: (plain, request) => withProviderOptions(plain, request, isOpenAI),
    refusalIn: ({ openai }) => (typeof openai?.['refusal'] === 'string' ? openai['refusal'] : undefined),
  }
}

/** OpenAI's models refuse in a field of their own, which the package does not read. */
const refusals: MetadataExtractor = {
  extractMetadata: async () => undefined,
  createStreamExtractor() {
    let refusal = ''
    return {
      processChunk(chunk) {
        refusal += refusalIn(chunk)
      },
      buildMetadata: () => (refusal === '' ? undefined : { openai: { refusal } }),
    }
  },
}

function refusalIn(chunk: unknown): string {
  const { choices } = chunk as { readonly choices?: readonly { readonly delta?: { readonly refusal?: unknown } }[] }
  const refusal = Array.isArray(choices) ? choices[0]?.delta?.refusal : undefined
  return typeof refusal === 'string' ? refusal : ''
}

function withProviderOptions(
  plain: LanguageModelV3CallOptions,
  request: ModelRequest,
  isOpenAI: boolean,
): LanguageModelV3CallOptions {
  const own = {
    ...(request.effort !== undefined && { reasoningEffort: request.effort }),
    // Requests of one session reach the machine that has the beginning of the prompt cached.
    ...(isOpenAI && { prompt_cache_key: request.session }),
  }
  return Object.keys(own).length === 0 ? plain : { ...plain, providerOptions: { [METADATA_NAME]: own } }
}

/** OpenAI's reasoning models refuse the old parameter. */
function withNewParameters({ max_tokens: limit, ...body }: Record<string, unknown>): Record<string, unknown> {
  return limit === undefined ? body : { ...body, max_completion_tokens: limit }
}
