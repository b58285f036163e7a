/** Anthropic's messages format: thinking by budget or by effort, and cache marks. */
import { createAnthropic } from '@ai-sdk/anthropic'
import {
  type LanguageModelV3CallOptions,
  type LanguageModelV3Prompt,
  type SharedV3ProviderOptions,
  TypeValidationError,
} from '@ai-sdk/provider'
import type { ModelRequest } from '../../../ports/model.ts'
import type { ProviderProtocol, ModelOptions } from './provider-protocol.ts'

export function anthropic({ provider, name, fetch }: ModelOptions): ProviderProtocol {
  const made = createAnthropic({
    baseURL: provider.url,
    // Without a key the package would read the environment.
    apiKey: provider.key ?? 'none',
    headers: { ...provider.headers },
    fetch,
  })
  return {
    model: made.languageModel(name),
    picturesInResults: true,
    pdf: true,
    thoughts: true,
    // Anthropic joins two messages of one role itself.
    turns: false,
    dressed: (plain, request) => withProviderOptions(plain, request, name),
    passesOver: isIgnorableEvent,
  }
}

const EVENTS = /^(?:message|content_block)_(?:start|delta|stop)$|^(?:ping|error)$/u
const BLOCKS = /^(?:text|thinking|redacted_thinking|tool_use)$/u
const DELTAS = /^(?:text|thinking|signature|input_json)_delta$/u

interface StreamEvent {
  readonly type?: unknown
  readonly content_block?: { readonly type?: unknown }
  readonly delta?: { readonly type?: unknown }
}

/** Anthropic may add kinds of events at any time, and asks clients to ignore unknown ones. */
function isIgnorableEvent(error: unknown): boolean {
  if (!TypeValidationError.isInstance(error) || typeof error.value !== 'object' || error.value === null) return false
  const { type, content_block: block, delta } = error.value as StreamEvent
  if (typeof type !== 'string') return false
  if (!EVENTS.test(type)) return true
  if (type === 'content_block_start') return typeof block?.type === 'string' && !BLOCKS.test(block.type)
  return type === 'content_block_delta' && typeof delta?.type === 'string' && !DELTAS.test(delta.type)
}

const CACHE_MARK = { anthropic: { cacheControl: { type: 'ephemeral' } } } as const

function withProviderOptions(
  plain: LanguageModelV3CallOptions,
  request: ModelRequest,
  name: string,
): LanguageModelV3CallOptions {
  const { thinking, headers } = thinkingOf(name, request.effort)
  return {
    ...plain,
    prompt: withCacheMarks(plain.prompt),
    ...(plain.tools !== undefined && {
      tools: plain.tools.map((tool, at, { length }) =>
        at === length - 1 ? { ...tool, providerOptions: CACHE_MARK } : tool,
      ),
    }),
    ...(thinking !== undefined && { providerOptions: { anthropic: thinking } }),
    ...(headers !== undefined && { headers }),
  }
}

/**
 * At most four marks: the tools, the system prompt, the end, and the end before the last answer. The latter would not be
 * found from the end alone if many parallel calls stand between.
 */
function withCacheMarks(prompt: LanguageModelV3Prompt): LanguageModelV3Prompt {
  const answered = prompt.findLastIndex(({ role }) => role === 'assistant')
  const before = prompt.findLastIndex(({ role }, at) => at < answered && isAsking(role))
  const ends = new Set([before, prompt.findLastIndex(({ role }) => isAsking(role))])
  return prompt.map((message, at) =>
    message.role === 'system' || ends.has(at) ? { ...message, providerOptions: CACHE_MARK } : message,
  )
}

function isAsking(role: string): boolean {
  return role === 'user' || role === 'tool'
}

/** Models that think as much as their effort allows: from Claude 4.6 on. */
const ADAPTIVE = /claude-(?:(?:opus|sonnet)-4-[6-9]|(?:opus|sonnet|haiku|fable)-(?:[5-9]|\d\d))/u

const THINKING_BUDGETS: Readonly<Record<string, number>> = { low: 2048, medium: 8192, high: 24_576 }

interface Thinking {
  readonly thinking?: SharedV3ProviderOptions[string]
  readonly headers?: Readonly<Record<string, string>>
}

function thinkingOf(name: string, effort: string | undefined): Thinking {
  if (effort === undefined) return {}
  if (ADAPTIVE.test(name)) return { thinking: { thinking: { type: 'adaptive', display: 'summarized' }, effort } }
  const budgetTokens = THINKING_BUDGETS[effort]
  if (budgetTokens === undefined) return {}
  return {
    thinking: { thinking: { type: 'enabled', budgetTokens } },
    // Thinking between the calls of a turn, too.
    headers: { 'anthropic-beta': 'interleaved-thinking-2025-05-14' },
  }
}
