/** One model: sends a request in the format of its provider and yields the answer part by part. */
import type { LanguageModelV3StreamPart } from '@ai-sdk/provider'
import type { Clock } from '../../ports/clock.ts'
import type { Model, ModelPart, ModelRequest, ModelTraits } from '../../ports/model.ts'
import { newCallId, promptOf, toolsOf, type ConvertedMessages } from './protocol/prompt.ts'
import { Collector } from './stream/collect.ts'
import type { ProviderProtocol } from './protocol/provider-protocol.ts'
import { type FailureContext, failFor } from './http/failure.ts'
import type { Provider } from '../../ports/values/provider.ts'
import { type SseChunkMerger, type StreamTimeouts, Watch } from './stream/watch.ts'
import type { Transport } from './http/provider-requests.ts'

export interface OpenedModel {
  readonly provider: Provider
  /** Full. */
  readonly name: string
  readonly traits: ModelTraits
  readonly maxOutputTokens: number | undefined
  readonly dialect: ProviderProtocol
  readonly transport: Transport
  readonly clock: Clock
}

/** Messages that were converted for earlier requests. */
type Known = OpenedModel & { readonly written: ConvertedMessages }

export function modelOf(opened: OpenedModel): Model {
  const known = { ...opened, written: new WeakMap() }
  return { name: opened.name, ...opened.traits, stream: (request) => stream(known, request) }
}

async function* stream(opened: Known, request: ModelRequest): AsyncGenerator<ModelPart> {
  const { provider, clock, transport } = opened
  const watch = new Watch(clock, streamTimeoutsOf(provider), request.signal)
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
    const read = reader.read.bind(reader)
    for (;;) {
      const { done, value } = await watch.word(read)
      if (watch.endReason !== undefined) throw new Error('the request was ended')
      if (done) break
      const part = collector.take(value)
      if (part !== undefined) yield piecesOf(part, watch.runs)
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

function piecesOf(part: ModelPart, runs: SseChunkMerger): ModelPart {
  if (part.kind !== 'text' && part.kind !== 'thought') return part
  const pieces = runs.pieces(part.text)
  return pieces === undefined ? part : { ...part, pieces }
}

type Reader = ReadableStreamDefaultReader<LanguageModelV3StreamPart>

async function begin(
  { dialect, traits, provider, maxOutputTokens, written }: Known,
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
