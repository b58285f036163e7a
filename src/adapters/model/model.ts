/** One model: sends a request in the format of its provider, yields the answer part by part, and the whole message at the end. */
import {
  type LanguageModelV3StreamPart,
  type LanguageModelV3Usage,
  type SharedV3ProviderMetadata,
  APICallError,
} from '@ai-sdk/provider'
import type { Clock } from '../../ports/clock.ts'
import type {
  AssistantPart,
  Model,
  ModelEnd,
  ModelPart,
  ModelRequest,
  ModelTraits,
  ModelUsage,
} from '../../ports/model.ts'
import type { Provider } from '../../ports/values/provider.ts'
import { isNestedDeeper } from '../../text/nesting.ts'
import { type FailureContext, failFor, titleIn } from './http/failure.ts'
import { type ProviderTransport, RequestWatch, type StreamTimeouts, responseOf } from './http/provider-requests.ts'
import { type ConvertedMessages, type ProviderMetadata, newCallId, promptOf, toolsOf } from './protocol/prompt.ts'
import type { ProviderProtocol } from './protocol/provider-protocol.ts'

export interface OpenedModel {
  readonly provider: Provider
  /** Full. */
  readonly name: string
  readonly traits: ModelTraits
  readonly maxOutputTokens: number | undefined
  readonly dialect: ProviderProtocol
  readonly transport: ProviderTransport
  readonly clock: Clock
}

/** Messages that were converted for earlier requests. */
type OpenModel = OpenedModel & { readonly written: ConvertedMessages }

export function modelOf(opened: OpenedModel): Model {
  const known = { ...opened, written: new WeakMap() }
  return { name: opened.name, ...opened.traits, stream: (request) => stream(known, request) }
}

async function* stream(opened: OpenModel, request: ModelRequest): AsyncGenerator<ModelPart> {
  const { provider, clock, transport } = opened
  const watch = new RequestWatch(clock, streamTimeoutsOf(provider), request.signal)
  const blamed: FailureContext = { provider, model: opened.name, watch, now: clock.now() }
  transport.watch(watch)
  const collector = new Collector({
    provider: provider.name,
    newId: () => newCallId(clock),
    reject: (error) => failFor(error, blamed),
    passesOver: opened.dialect.passesOver,
    refusalIn: opened.dialect.refusalIn,
  })
  let reader: Reader | undefined
  // Ends a pending read at once; the packages alone would wait for the socket.
  const stop = () => void reader?.cancel().catch(() => undefined)
  watch.signal.addEventListener('abort', stop, { once: true })
  try {
    reader = await watch.word(async () => await begin(opened, request, watch.signal))
    watch.parts.from(reader)
    const { spoken } = request
    if (spoken !== undefined)
      watch.parts.listen((heard) => {
        const part = collector.take(heard.part)
        return part?.kind === 'text' || part?.kind === 'thought' ? spoken(withPieces(part, heard.pieces)) : undefined
      })
    const next = () => watch.parts.next()
    for (;;) {
      const heard = await watch.word(next)
      if (watch.endReason !== undefined) throw new Error('the request was ended')
      if (heard === undefined) break
      const part = collector.take(heard.part)
      if (part !== undefined) yield withPieces(part, heard.pieces)
    }
  } catch (error) {
    failFor(error, blamed)
  } finally {
    stop()
    watch.close()
  }
  if (collector.end === undefined) return failFor(new Error('it ended in the middle'), blamed)
  yield collector.end
}

function withPieces<Part extends ModelPart>(part: Part, pieces: readonly string[] | undefined): Part {
  if (pieces === undefined || (part.kind !== 'text' && part.kind !== 'thought')) return part
  return { ...part, pieces }
}

type Reader = ReadableStreamDefaultReader<LanguageModelV3StreamPart>

async function begin(
  { dialect, traits, provider, maxOutputTokens, written }: OpenModel,
  request: ModelRequest,
  abortSignal: AbortSignal,
): Promise<Reader> {
  const { picturesInResults, thoughts, turns, pdf } = dialect
  const takes = { image: traits.accepts.image, audio: traits.accepts.audio, pdf }
  const limit = request.maxOutputTokens ?? maxOutputTokens
  const plain = {
    prompt: promptOf(request, { provider: provider.name, takes, picturesInResults, thoughts, turns }, written),
    ...(request.tools.length > 0 && { tools: toolsOf(request.tools) }),
    ...(limit !== undefined && { maxOutputTokens: limit }),
    abortSignal,
  }
  const { stream } = await dialect.model.doStream(dialect.dressed(plain, request))
  return stream.getReader()
}

const SECOND_MS = 1000

/** From the configuration, else the default of this kind of provider. */
function streamTimeoutsOf(provider: Provider): StreamTimeouts {
  const given = provider.idleSeconds
  if (given !== undefined)
    return { firstMs: given * SECOND_MS, nextMs: given * SECOND_MS, wordsMs: 10 * given * SECOND_MS }
  // A local model may have to be loaded first, and reads a long prompt without sending anything.
  return provider.isLocal
    ? { firstMs: 900 * SECOND_MS, nextMs: 300 * SECOND_MS, wordsMs: 900 * SECOND_MS }
    : { firstMs: 180 * SECOND_MS, nextMs: 120 * SECOND_MS, wordsMs: 900 * SECOND_MS }
}

interface Collecting {
  /** The name of the provider. */
  readonly provider: string
  readonly newId: () => string
  /** Throws for an invalid answer. */
  readonly reject: (error: unknown) => never
  /** Whether an error of the package can be ignored. */
  readonly passesOver?: ((error: unknown) => boolean) | undefined
  /** What was said beside the text when the model refused. */
  readonly refusalIn?: ((metadata: SharedV3ProviderMetadata) => string | undefined) | undefined
}

interface Block {
  readonly kind: 'text' | 'thought'
  readonly pieces: string[]
  metadata: SharedV3ProviderMetadata | undefined
}

/** The first or the last part of a block. */
interface BlockEdge {
  readonly type: string
  readonly id: string
  readonly providerMetadata?: SharedV3ProviderMetadata
}

type CallPart = Extract<AssistantPart, { kind: 'call' }>

/** Collects the stream of a provider's package: text and reasoning as they arrive, the whole message at the end. */
export class Collector {
  readonly #collecting: Collecting
  readonly #parts: (Block | CallPart)[] = []
  readonly #blocks = new Map<string, Block>()
  /** Tool calls that are being streamed: provider's id → our id. */
  readonly #calling = new Map<string, string>()
  #end: ModelEnd | undefined

  constructor(collecting: Collecting) {
    this.#collecting = collecting
  }

  /** The part for the consumer, if there is one. */
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
        return part.providerExecuted === true ? undefined : this.#calls(part.id, part.toolName.slice(0, MAX_NAME_CHARS))
      case 'tool-call':
        return part.providerExecuted === true ? undefined : this.#call(part)
      case 'finish':
        return this.#finish(part)
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

  #begin({ type, id, providerMetadata }: BlockEdge): Block {
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

  #seal({ type, id, providerMetadata }: BlockEdge): void {
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
    const name = toolName.slice(0, MAX_NAME_CHARS)
    this.#calling.delete(toolCallId)
    const provider = this.#keepsake(providerMetadata, toolCallId)
    this.#parts.push({ kind: 'call', id, name, ...argsIn(input), provider })
    return announced === undefined ? { kind: 'calling', id, name } : undefined
  }

  #finish({
    finishReason,
    usage,
    providerMetadata = {},
  }: Extract<LanguageModelV3StreamPart, { type: 'finish' }>): ModelPart | undefined {
    const { unified, raw } = finishReason
    if (unified === 'error') this.#collecting.reject(new Error(`it ended with ${raw ?? 'an error'}`))
    // Without a finish reason the answer is incomplete.
    if (unified === 'other' && raw === undefined) return undefined
    const refusal = this.#collecting.refusalIn?.(providerMetadata)
    if (refusal !== undefined) this.#parts.push({ kind: 'text', pieces: [refusal], metadata: undefined })
    const hasCalls = this.#parts.some(({ kind }) => kind === 'call')
    const reasons = {
      stop: hasCalls ? 'calls' : 'stop',
      'tool-calls': hasCalls ? 'calls' : 'stop',
      length: 'length',
      'content-filter': 'refusal',
      other: 'other',
    } as const
    const parts = this.#parts.flatMap((part) => this.#partOf(part))
    const reason = refusal === undefined ? reasons[unified] : 'refusal'
    this.#end = { kind: 'end', message: { role: 'assistant', parts }, reason, usage: usageOf(usage) }
    return refusal === undefined ? undefined : { kind: 'text', text: refusal }
  }

  #partOf(part: Block | CallPart): readonly AssistantPart[] {
    if (part.kind === 'call') return [part]
    const text = part.pieces.join('')
    // Redacted reasoning has no text, but must be sent back all the same.
    if (text === '' && part.metadata === undefined) return []
    const isKept = part.kind === 'thought' || part.metadata !== undefined
    return [{ kind: part.kind, text, ...(isKept && { provider: this.#keepsake(part.metadata) }) }]
  }

  #keepsake(metadata: SharedV3ProviderMetadata | undefined, id?: string): ProviderMetadata {
    const { provider: from } = this.#collecting
    return { from, ...(id !== undefined && { id }), ...(metadata !== undefined && { metadata }) }
  }
}

/** Characters of the arguments of one call; a whole file must fit. */
const MAX_ARGS_CHARS = 4 * 1024 * 1024
/** Levels of JSON that clients can read. */
const MAX_ARGS_DEPTH = 100
/** Characters kept of unreadable arguments, so that the model recognises them. */
const MAX_MALFORMED_CHARS = 1_000
/** Characters of a tool name; no tool has a longer one. */
const MAX_NAME_CHARS = 200

/** Arguments that cannot be parsed or stored are kept as text, shortened. */
function argsIn(input: string): { readonly args: unknown; readonly malformed?: string } {
  if (input.trim() === '') return { args: {} }
  const args = input.length > MAX_ARGS_CHARS ? undefined : parsed(input)
  if (args !== undefined && !isNestedDeeper(args, MAX_ARGS_DEPTH)) return { args }
  return { args: {}, malformed: input.slice(0, MAX_MALFORMED_CHARS) }
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

/** Some providers count wrongly; negative numbers become 0. */
function counted(tokens: number | undefined): number {
  return tokens !== undefined && tokens > 0 ? Math.round(tokens) : 0
}

type Fetch = typeof globalThis.fetch

/** Characters of a response that is not a stream; an explanation is not longer. */
const MAX_EXPLANATION_CHARS = 64 * 1024

/** Addresses may contain keys, and requests the user's words. */
const NO_REQUEST = { url: '', requestBodyValues: {} }

/** Detects responses that are not streams. The packages would report a missing end and lose the explanation. */
export function explainNonStream(fetch: Fetch): Fetch {
  return async (url, init) => {
    const response = await fetch(url, init)
    const type = response.headers.get('content-type') ?? ''
    if (!response.ok || response.body === null || !/^(?:text\/html|application\/json)\b/iu.test(type)) return response
    const { body, text } = await withPeek(response.body)
    refusePage(text)
    refuseFailure(text)
    return responseOf(body, response)
  }
}

/** The beginning of a body, and the whole body again. Some providers stream with a JSON content type, so only the first bytes are awaited. */
async function withPeek(
  stream: ReadableStream<Uint8Array>,
): Promise<{ body: ReadableStream<Uint8Array>; text: string }> {
  const reader = stream.getReader()
  const decoder = new TextDecoder()
  const seen: Uint8Array[] = []
  let text = ''
  while (/^\s*(?:[<{]|$)/u.test(text) && text.length < MAX_EXPLANATION_CHARS) {
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
  // An error with data of its own is not a broken answer.
  const message = `it answered with ${page}; is its address right?`
  throw new APICallError({ message, ...NO_REQUEST, statusCode: 200, data: {}, isRetryable: false })
}

function refuseFailure(text: string): void {
  const error = errorIn(text)
  if (error === undefined || error === null) return
  const code = typeof error === 'object' && 'code' in error ? error.code : undefined
  const statusCode = typeof code === 'number' && code >= 400 && code < 600 ? code : 500
  throw new APICallError({ message: '', ...NO_REQUEST, statusCode, responseBody: text, data: {} })
}

function errorIn(text: string): unknown {
  try {
    const said: unknown = JSON.parse(text)
    return typeof said === 'object' && said !== null && 'error' in said ? said.error : undefined
  } catch {
    return undefined
  }
}
