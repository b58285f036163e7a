/** Anthropic's messages: thinking by budget or by effort, and a cache that is kept warm by its marks. */
import { createAnthropic } from '@ai-sdk/anthropic'
import {
  type LanguageModelV3CallOptions,
  type LanguageModelV3Prompt,
  type SharedV3ProviderOptions,
  TypeValidationError,
} from '@ai-sdk/provider'
import type { ModelRequest } from '../../../ports/model.ts'
import type { ProviderProtocol, Speaking } from './provider-protocol.ts'

export function anthropic({ provider, name, fetch }: Speaking): ProviderProtocol {
  const made = createAnthropic({
    baseURL: provider.url,
    // Without one the package would look into the environment.
    apiKey: provider.key ?? 'none',
    headers: { ...provider.headers },
    fetch,
  })
  return {
    model: made.languageModel(name),
    picturesInResults: true,
    pdf: true,
    thoughts: true,
    // It joins what is said twice in a row, behind what it has kept.
    turns: false,
    dressed: (plain, request) => dressed(plain, request, name),
    passesOver: isNews,
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

/** Anthropic may add kinds of events at any time, and asks to pass over those that one does not know. */
function isNews(error: unknown): boolean {
  if (!TypeValidationError.isInstance(error) || typeof error.value !== 'object' || error.value === null) return false
  const { type, content_block: block, delta } = error.value as StreamEvent
  if (typeof type !== 'string') return false
  if (!EVENTS.test(type)) return true
  if (type === 'content_block_start') return typeof block?.type === 'string' && !BLOCKS.test(block.type)
  return type === 'content_block_delta' && typeof delta?.type === 'string' && !DELTAS.test(delta.type)
}

const MARK = { anthropic: { cacheControl: { type: 'ephemeral' } } } as const

function dressed(plain: LanguageModelV3CallOptions, request: ModelRequest, name: string): LanguageModelV3CallOptions {
  const { thinking, headers } = thinkingOf(name, request.effort)
  return {
    ...plain,
    prompt: marked(plain.prompt),
    ...(plain.tools !== undefined && {
      tools: plain.tools.map((tool, at, { length }) => (at === length - 1 ? { ...tool, providerOptions: MARK } : tool)),
    }),
    ...(thinking !== undefined && { providerOptions: { anthropic: thinking } }),
    ...(headers !== undefined && { headers }),
  }
}

/**
 * Four marks may be set: the tools, the system prompt, the end, and the end before the last answer, which would not be
 * found from the end alone when many parallel calls stand between, whatever followed their results.
 */
function marked(prompt: LanguageModelV3Prompt): LanguageModelV3Prompt {
  const answered = prompt.findLastIndex(({ role }) => role === 'assistant')
  const before = prompt.findLastIndex(({ role }, at) => at < answered && isAsking(role))
  const ends = new Set([before, prompt.findLastIndex(({ role }) => isAsking(role))])
  return prompt.map((message, at) =>
    message.role === 'system' || ends.has(at) ? { ...message, providerOptions: MARK } : message,
  )
}

function isAsking(role: string): boolean {
  return role === 'user' || role === 'tool'
}

/** Models that think as much as their effort allows, from Claude 4.6 on. */
const ADAPTIVE = /claude-(?:(?:opus|sonnet)-4-[6-9]|(?:opus|sonnet|haiku|fable)-(?:[5-9]|\d\d))/u

const BUDGETS: Readonly<Record<string, number>> = { low: 2048, medium: 8192, high: 24_576 }

interface Thinking {
  readonly thinking?: SharedV3ProviderOptions[string]
  readonly headers?: Readonly<Record<string, string>>
}

function thinkingOf(name: string, effort: string | undefined): Thinking {
  if (effort === undefined) return {}
  if (ADAPTIVE.test(name)) return { thinking: { thinking: { type: 'adaptive', display: 'summarized' }, effort } }
  const budgetTokens = BUDGETS[effort]
  if (budgetTokens === undefined) return {}
  return {
    thinking: { thinking: { type: 'enabled', budgetTokens } },
    // Between the calls of a turn too.
    headers: { 'anthropic-beta': 'interleaved-thinking-2025-05-14' },
  }
}
