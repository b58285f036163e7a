/**
 * Language models: the request to a model, and the response that it streams. Every adapter passes
 * `test/contracts/model.ts`.
 */
import type { PromptKinds } from './agent.ts'
import type { Content } from './values/content.ts'
import type { Signal } from './values/signal.ts'

/** Models by their full names: `provider:name`, as users write them after `--model`. */
export interface Models {
  /**
   * Lists every configured or known provider once, configured ones first: the models that can be used now, or a sentence
   * that says why there are none. Asks local servers and the providers' lists, each for at most `limitMs`. Never throws.
   */
  discover(limitMs: number, signal: Signal): Promise<readonly ModelSource[]>
  /** The model to use when the user chose none. Never waits for a network that an earlier `discover` has not asked. */
  readonly preset: string | undefined
  /** Loads the package of its provider. Throws MODEL_UNKNOWN and MODEL_KEY_MISSING, before anything is sent. */
  open(name: string): Promise<Model>
  /** The same as a model would say of itself, for who must not wait. */
  about(name: string): ModelTraits
}

export interface ModelSource {
  readonly provider: string
  /** The name that users read: `Anthropic`, `Ollama at http://127.0.0.1:11434`. */
  readonly title: string
  readonly models: readonly ModelListing[]
  /** Why it cannot be used, and what to do. Absent when it can. */
  readonly reason?: string
}

export interface ModelListing extends ModelTraits {
  /** Full. */
  readonly name: string
  readonly title: string
}

/** The known properties of a model. Unknown ones are absent, never guessed high. */
export interface ModelTraits {
  readonly accepts: PromptKinds
  /** Tokens that prompt and answer may have together. */
  readonly contextWindow?: number
  /** How much thinking can be asked for, least first; empty where it cannot be set. */
  readonly efforts: readonly string[]
  readonly price?: ModelPrice
}

/** For a million tokens. */
export interface ModelPrice {
  readonly currency: string
  readonly input: number
  readonly output: number
  readonly cacheRead: number
  readonly cacheWrite: number
}

export interface Model extends ModelTraits {
  /** Full. */
  readonly name: string
  /**
   * Streams one step; the last part is the `end`. Does not retry. Throws MODEL_KEY, MODEL_QUOTA, MODEL_RATE_LIMIT and
   * MODEL_OVERLOADED (both with `retryAfterMs` where the provider gives it), MODEL_CONTEXT, MODEL_NETWORK, MODEL_ABSENT
   * (nothing listens at its address), MODEL_STREAM (the stream is incomplete or invalid), MODEL_IDLE (no data for too
   * long), MODEL_REFUSED with the provider's own words, and MODEL_CANCELLED. No error holds a secret.
   */
  stream(request: ModelRequest): AsyncIterable<ModelPart>
}

export interface ModelRequest {
  readonly system: string
  /** The context so far. It begins with the messages of the last request, unchanged. */
  readonly messages: readonly ModelMessage[]
  /** In an order that stays. */
  readonly tools: readonly ModelTool[]
  /** One of the model's `efforts`. */
  readonly effort?: string
  readonly maxOutputTokens?: number
  /** The session: providers that route by it keep their caches warm. */
  readonly session: string
  readonly signal: Signal
  /**
   * Takes words at once, instead of the iteration that waits for its next part: of a model that speaks slowly that is most of
   * them, and then half of the work. Its promise resolves when it can take more; if it rejects, the iteration throws the same.
   */
  readonly spoken?: (part: SpokenPart) => Promise<void>
}

export interface ModelTool {
  readonly name: string
  readonly description: string
  /** JSON Schema of an object, in the words that every provider accepts. */
  readonly schema: Readonly<Record<string, unknown>>
}

/** A message to or from a model, in no provider's format. JSON that is stored and sent again unchanged. */
export type ModelMessage = UserMessage | AssistantMessage | ToolMessage

export interface UserMessage {
  readonly role: 'user'
  readonly content: readonly Content[]
}

export interface AssistantMessage {
  readonly role: 'assistant'
  readonly parts: readonly AssistantPart[]
}

/** The results of calls of the assistant message before it, each once. */
export interface ToolMessage {
  readonly role: 'tool'
  readonly results: readonly ModelToolResult[]
}

/** `provider` is what its provider wants back unchanged: signatures of thoughts and the like. */
export type AssistantPart =
  | { readonly kind: 'text'; readonly text: string; readonly provider?: unknown }
  | { readonly kind: 'thought'; readonly text: string; readonly provider?: unknown }
  | ModelToolCall

export interface ModelToolCall {
  readonly kind: 'call'
  /** Unique in the session, even if the provider repeats its own ids. */
  readonly id: string
  readonly name: string
  /** Parsed; where it could not be parsed, `{}` and `malformed`. */
  readonly args: unknown
  /** The text that the model wrote instead of JSON. */
  readonly malformed?: string
  readonly provider?: unknown
}

export interface ModelToolResult {
  readonly id: string
  readonly name: string
  readonly content: readonly Content[]
  readonly isError: boolean
}

export type ModelPart =
  | SpokenPart
  /** A call that is being written, so that users see that one is coming. */
  | { readonly kind: 'calling'; readonly id: string; readonly name: string }
  | ModelEnd

/** `pieces`: the parts of the text, where the model sent several. */
export interface SpokenPart {
  readonly kind: 'text' | 'thought'
  readonly text: string
  readonly pieces?: readonly string[]
}

export interface ModelEnd {
  readonly kind: 'end'
  readonly message: AssistantMessage
  readonly reason: 'stop' | 'calls' | 'length' | 'refusal' | 'other'
  readonly usage: ModelUsage
}

/** Tokens; `input` holds those that were read from and written to a cache too. */
export interface ModelUsage {
  readonly input: number
  readonly output: number
  readonly cacheRead: number
  readonly cacheWrite: number
}
