/** What streams out of a package becomes what a step said: text and thoughts as they come, the whole message at the end. */
import {
  type LanguageModelV3StreamPart,
  type LanguageModelV3Usage,
  type SharedV3ProviderMetadata,
  APICallError,
} from '@ai-sdk/provider'
import type { AssistantPart, ModelEnd, ModelPart, ModelUsage } from '../../../ports/model.ts'
import { isNestedDeeper } from '../../../text/nesting.ts'
import type { ProviderMetadata } from '../protocol/prompt.ts'
import { titleIn } from '../http/failure.ts'

interface Collecting {
  /** The name of the provider. */
  readonly provider: string
  readonly newId: () => string
  /** Throws for an answer that makes no sense. */
  readonly reject: (error: unknown) => never
  /** What the package takes for an error and the provider means to be passed over. */
  readonly passesOver?: ((error: unknown) => boolean) | undefined
}

interface Block {
  readonly kind: 'text' | 'thought'
  readonly pieces: string[]
  metadata: SharedV3ProviderMetadata | undefined
}

type Call = Extract<AssistantPart, { kind: 'call' }>

export class Collector {
  readonly #collecting: Collecting
  readonly #parts: (Block | Call)[] = []
  readonly #blocks = new Map<string, Block>()
  /** Calls that are being written: the provider's id, ours. */
  readonly #calling = new Map<string, string>()
  #end: ModelEnd | undefined

  constructor(collecting: Collecting) {
    this.#collecting = collecting
  }

  /** What the consumer hears of it, if anything. */
  take(part: LanguageModelV3StreamPart): ModelPart | undefined {
    switch (part.type) {
      case 'text-start':
      case 'reasoning-start':
        this.#begin(part)
        return undefined
      case 'text-delta':
      case 'reasoning-delta':
        return this.#grow(part)
      case 'text-end':
      case 'reasoning-end':
        this.#seal(part)
        return undefined
      case 'tool-input-start':
        return part.providerExecuted === true ? undefined : this.#calls(part.id, part.toolName.slice(0, LONGEST_NAME))
      case 'tool-call':
        return part.providerExecuted === true ? undefined : this.#call(part)
      case 'finish':
        this.#finish(part)
        return undefined
      case 'error':
        if (this.#collecting.passesOver?.(part.error) === true) return undefined
        return this.#collecting.reject(part.error)
      default:
        return undefined
    }
  }

  /** Undefined for an answer that broke off. */
  get end(): ModelEnd | undefined {
    return this.#end
  }

  #begin({
    type,
    id,
    providerMetadata,
  }: {
    type: string
    id: string
    providerMetadata?: SharedV3ProviderMetadata
  }): Block {
    const kind = type.startsWith('text') ? 'text' : 'thought'
    const block: Block = { kind, pieces: [], metadata: providerMetadata }
    this.#parts.push(block)
    this.#blocks.set(`${kind} ${id}`, block)
    return block
  }

  #grow(
    part: Extract<LanguageModelV3StreamPart, { delta: string; type: 'text-delta' | 'reasoning-delta' }>,
  ): ModelPart | undefined {
    const kind = part.type === 'text-delta' ? 'text' : 'thought'
    const block = this.#blocks.get(`${kind} ${part.id}`) ?? this.#begin(part)
    if (part.providerMetadata !== undefined) block.metadata = merged(block.metadata, part.providerMetadata)
    if (part.delta === '') return undefined
    block.pieces.push(part.delta)
    return { kind, text: part.delta }
  }

  #seal({
    type,
    id,
    providerMetadata,
  }: {
    type: string
    id: string
    providerMetadata?: SharedV3ProviderMetadata
  }): void {
    const block = this.#blocks.get(`${type.startsWith('text') ? 'text' : 'thought'} ${id}`)
    if (block !== undefined && providerMetadata !== undefined) block.metadata = merged(block.metadata, providerMetadata)
  }

  #calls(theirs: string, name: string): ModelPart {
    const id = this.#collecting.newId()
    this.#calling.set(theirs, id)
    return { kind: 'calling', id, name }
  }

  #call({
    toolCallId,
    toolName,
    input,
    providerMetadata,
  }: Extract<LanguageModelV3StreamPart, { type: 'tool-call' }>): ModelPart | undefined {
    const announced = this.#calling.get(toolCallId)
    const id = announced ?? this.#collecting.newId()
    const name = toolName.slice(0, LONGEST_NAME)
    this.#calling.delete(toolCallId)
    const provider = this.#keepsake(providerMetadata, toolCallId)
    this.#parts.push({ kind: 'call', id, name, ...argsIn(input), provider })
    return announced === undefined ? { kind: 'calling', id, name } : undefined
  }

  #finish({ finishReason, usage }: Extract<LanguageModelV3StreamPart, { type: 'finish' }>): void {
    const { unified, raw } = finishReason
    if (unified === 'error') this.#collecting.reject(new Error(`it ended with ${raw ?? 'an error'}`))
    // No reason at all is an answer whose end never came.
    if (unified === 'other' && raw === undefined) return
    const hasCalls = this.#parts.some(({ kind }) => kind === 'call')
    const reasons = {
      stop: hasCalls ? 'calls' : 'stop',
      'tool-calls': hasCalls ? 'calls' : 'stop',
      length: 'length',
      'content-filter': 'refusal',
      other: 'other',
    } as const
    const parts = this.#parts.flatMap((part) => this.#partOf(part))
    this.#end = { kind: 'end', message: { role: 'assistant', parts }, reason: reasons[unified], usage: usageOf(usage) }
  }

  #partOf(part: Block | Call): readonly AssistantPart[] {
    if (part.kind === 'call') return [part]
    const text = part.pieces.join('')
    // Thoughts that nobody may read have no text, and must go back all the same.
    if (text === '' && part.metadata === undefined) return []
    const isKept = part.kind === 'thought' || part.metadata !== undefined
    return [{ kind: part.kind, text, ...(isKept && { provider: this.#keepsake(part.metadata) }) }]
  }

  #keepsake(metadata: SharedV3ProviderMetadata | undefined, id?: string): ProviderMetadata {
    const { provider: from } = this.#collecting
    return { from, ...(id !== undefined && { id }), ...(metadata !== undefined && { metadata }) }
  }
}

/** Letters of the arguments of one call; a file that is written has to fit in. */
const LONGEST_ARGS = 4 * 1024 * 1024
/** As deep as a client can read them in a line of JSON. */
const DEEPEST_ARGS = 100
/** Letters of what nobody can read, for the model to know it again. */
const LONGEST_MALFORMED = 1_000
/** Letters of a name; no tool that there is has so many. */
const LONGEST_NAME = 200

/** What cannot be parsed, or not be stored and sent as what it is, is kept as it was written, as far as anybody needs it. */
function argsIn(input: string): { readonly args: unknown; readonly malformed?: string } {
  if (input.trim() === '') return { args: {} }
  const args = input.length > LONGEST_ARGS ? undefined : parsed(input)
  if (args !== undefined && !isNestedDeeper(args, DEEPEST_ARGS)) return { args }
  return { args: {}, malformed: input.slice(0, LONGEST_MALFORMED) }
}

function parsed(input: string): unknown {
  try {
    return JSON.parse(input) as unknown
  } catch {
    return undefined
  }
}

function merged(old: SharedV3ProviderMetadata | undefined, more: SharedV3ProviderMetadata): SharedV3ProviderMetadata {
  const together = { ...old }
  for (const [name, values] of Object.entries(more)) together[name] = { ...together[name], ...values }
  return together
}

function usageOf({ inputTokens, outputTokens }: LanguageModelV3Usage): ModelUsage {
  return {
    input: counted(inputTokens.total),
    output: counted(outputTokens.total),
    cacheRead: counted(inputTokens.cacheRead),
    cacheWrite: counted(inputTokens.cacheWrite),
  }
}

/** Some count wrongly; nobody is told of less than nothing. */
function counted(tokens: number | undefined): number {
  return tokens !== undefined && tokens > 0 ? Math.round(tokens) : 0
}

type Fetch = typeof globalThis.fetch

/** Letters of what is no stream; more is nothing that anybody explains itself with. */
const LONGEST = 64 * 1024

/** Addresses may hold keys, and requests what people said. */
const NOBODYS = { url: '', requestBodyValues: {} }

/** For the packages, which would find no end in such an answer and forget what it said. */
export function explainNonStream(fetch: Fetch): Fetch {
  return async (url, init) => {
    const response = await fetch(url, init)
    const type = response.headers.get('content-type') ?? ''
    if (!response.ok || response.body === null || !/^(?:text\/html|application\/json)\b/iu.test(type)) return response
    const { body, text } = await peeked(response.body)
    refusePage(text)
    refuseFailure(text)
    return new Response(body, { status: response.status, headers: response.headers })
  }
}

/** Its beginning, and all of it once more. Some stream under the name of JSON: of these no more than the first bytes are waited for. */
async function peeked(stream: ReadableStream<Uint8Array>): Promise<{ body: ReadableStream<Uint8Array>; text: string }> {
  const reader = stream.getReader()
  const decoder = new TextDecoder()
  const seen: Uint8Array[] = []
  let text = ''
  while (/^\s*(?:[<{]|$)/u.test(text) && text.length < LONGEST) {
    const { done, value } = await reader.read()
    if (done) break
    seen.push(value)
    text += decoder.decode(value, { stream: true })
  }
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = seen.length > 0 ? { done: false, value: seen.shift() } : await reader.read()
        if (done || value === undefined) controller.close()
        else controller.enqueue(value)
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  )
  return { body, text }
}

function refusePage(text: string): void {
  if (!/^\s*</u.test(text)) return
  const title = titleIn(text)
  const page = title === undefined ? 'a web page' : `the web page “${title}”`
  // With data of its own it is no answer that broke off.
  const message = `it answered with ${page}; is its address right?`
  throw new APICallError({ message, ...NOBODYS, statusCode: 200, data: {}, isRetryable: false })
}

function refuseFailure(text: string): void {
  const error = errorIn(text)
  if (error === undefined || error === null) return
  const code = typeof error === 'object' && 'code' in error ? error.code : undefined
  const statusCode = typeof code === 'number' && code >= 400 && code < 600 ? code : 500
  throw new APICallError({ message: '', ...NOBODYS, statusCode, responseBody: text, data: {} })
}

function errorIn(text: string): unknown {
  try {
    const said: unknown = JSON.parse(text)
    return typeof said === 'object' && said !== null && 'error' in said ? said.error : undefined
  } catch {
    return undefined
  }
}
