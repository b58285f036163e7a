/**
 * Prepares JSON from a server for the SDK. Batches (several messages in one array, as in protocol 2025-03-26) are split in every
 * protocol version, and malformed answers are repaired: their requests would otherwise time out. Messages that are too costly to
 * parse are replaced, unparsed, by an error that says why; requests lose their parameters.
 */
import { SHORT_JSON, jsonOutlineOf } from '../../../rpc/json-outline.ts'
import { isObject, type JsonObject } from '../../checking/json.ts'
import { isStream } from './read-throttle.ts'

/** The messages of one line. A line that is not JSON is returned as it is. */
export function messagesIn(line: string): readonly unknown[] {
  try {
    const said: unknown = JSON.parse(replaceIfTooCostly(line))
    return (Array.isArray(said) && said.length > 0 ? said : [said]).map(repaired)
  } catch {
    return [line]
  }
}

/** The same response with one event per message; a JSON body that is an array becomes a stream of events. */
export async function withoutBatches(response: Response): Promise<Response> {
  if (response.body === null || !response.ok) return response
  if (isStream(response)) return answerLike(response, response.body.pipeThrough(splitBatches()))
  if (response.headers.get('content-type')?.startsWith('application/json') !== true) return response
  const text = replaceIfTooCostly(await response.text())
  if (!/^\s*\[/u.test(text)) return answerLike(response, MALFORMED.test(text) ? repairedText(text) : text)
  const events = answerLike(
    response,
    messagesIn(text)
      .map((message) => eventOf(message))
      .join(''),
  )
  events.headers.set('content-type', 'text/event-stream')
  return events
}

function answerLike({ status, statusText, headers }: Response, body: ReadableStream<Uint8Array> | string): Response {
  return new Response(body, { status, statusText, headers: withoutLength(headers) })
}

function withoutLength(headers: Headers): Headers {
  const kept = new Headers(headers)
  kept.delete('content-length')
  kept.delete('content-encoding')
  return kept
}

function splitBatches(): TransformStream<Uint8Array, Uint8Array> {
  const decoder = new TextDecoder()
  const encoder = new TextEncoder()
  const events = eventCutter()
  return new TransformStream({
    transform(chunk, controller) {
      const whole = events(decoder.decode(chunk, { stream: true }))
      if (whole !== '') controller.enqueue(encoder.encode(whole))
    },
  })
}

/** Two line ends. A carriage return at the end of a chunk may be half of one; its line feed must not be held back. */
const END_OF_EVENT = /(?:\r\n|\n|\r(?!\n))(?:\r\n|\n|\r(?!\n|$))/gu
const BATCH = /^data: ?\[/mu

/** Collects text and returns the complete events; an event with an array becomes one event per message. */
function eventCutter(): (text: string) => string {
  let waiting: string[] = []
  let tail = ''
  return (text) => {
    // A blank line may arrive in two chunks. Earlier text is not searched again, because an event may be long.
    const seen = tail + text
    const end = endOfLast(seen)
    waiting.push(text)
    if (end === undefined) {
      tail = seen.slice(-3)
      return ''
    }
    const all = waiting.join('')
    const whole = all.slice(0, all.length - (seen.length - end))
    const rest = all.slice(whole.length)
    waiting = [rest]
    tail = rest.slice(-3)
    return BATCH.test(whole) || MALFORMED.test(whole) || whole.length > SHORT_JSON
      ? eventsIn(whole).map(splitEvent).join('')
      : whole
  }
}

function endOfLast(text: string): number | undefined {
  const last = [...text.matchAll(END_OF_EVENT)].at(-1)
  return last === undefined ? undefined : last.index + last[0].length
}

function eventsIn(text: string): readonly string[] {
  const ends = [...text.matchAll(END_OF_EVENT)].map((match) => match.index + match[0].length)
  return ends.map((end, index) => text.slice(ends[index - 1] ?? 0, end))
}

function splitEvent(event: string): string {
  if (!BATCH.test(event) && !MALFORMED.test(event) && event.length <= SHORT_JSON) return event
  const lines = event.split(/\r\n|\n|\r/u)
  const isData = (line: string): boolean => line.startsWith('data:')
  const data = lines.filter(isData).map((line) => line.slice('data:'.length))
  const whole = data.join('\n')
  if (!BATCH.test(event) && !MALFORMED.test(event) && replaceIfTooCostly(whole) === whole) return event
  const head = lines.filter((line) => line !== '' && !isData(line)).map((line) => `${line}\n`)
  const said = messagesIn(whole)
  // The SDK reports text that is not JSON.
  if (typeof said[0] === 'string' && said.length === 1) return event
  return said.map((message) => eventOf(message, head.join(''))).join('')
}

function eventOf(message: unknown, head = ''): string {
  return `${head}data: ${JSON.stringify(message)}\n\n`
}

/** Where a message may be one that `repaired` changes. Within strings all quotes are escaped. */
const MALFORMED = /"error"\s*:|"result"\s*:\s*[^\s{]/u

function repairedText(text: string): string {
  const [message] = messagesIn(text)
  return typeof message === 'string' ? text : JSON.stringify(message)
}

/**
 * Every answer has either a result or an error that the SDK can read: it ignores any other, so that its request would end
 * only when its time is over.
 */
function repaired(message: unknown): unknown {
  if (!isObject(message) || message['method'] !== undefined || message['id'] === undefined) return message
  const { result, error, ...rest } = message
  // Some servers write `error: null` beside a result, and others `result: null` beside an error or where they have none.
  if (isObject(error)) return { ...rest, error: repairedError(error) }
  if (typeof error === 'string') return { ...rest, error: { code: INTERNAL_ERROR, message: error } }
  if (isObject(result)) return { ...rest, result }
  if (result === null) return { ...rest, result: {} }
  return { ...rest, error: { code: ANSWER_LOST, message: 'the server answered with neither a result nor an error' } }
}

/** Of JSON-RPC. */
const INTERNAL_ERROR = -32603

function repairedError({ code, message, data }: JsonObject): JsonObject {
  return {
    code: Number.isSafeInteger(code) ? code : INTERNAL_ERROR,
    message: typeof message === 'string' ? message : 'the server gave no reason',
    ...(data !== undefined && { data }),
  }
}

/** The error code in place of an answer that can no longer arrive. */
export const ANSWER_LOST = -32097

/** The error code in place of an answer that was not parsed. Its message completes a sentence that begins "JSON that". */
export const NOT_PARSED = -32096

/** Recursive code would run out of stack on deeper messages. */
export const MAX_MESSAGE_DEPTH = 1_000
/** Values in one message: more take much of a second to parse, in which no client is served. */
export const MAX_VALUES = 1_000_000

/** The text itself, or its replacement if it is too costly to parse. */
export function replaceIfTooCostly(text: string): string {
  if (text.length <= SHORT_JSON) return text
  const { values, levels, id, method } = jsonOutlineOf(text)
  const why = wordsFor(values, levels)
  if (why === undefined) return text
  const rest = method === undefined ? { error: { code: NOT_PARSED, message: why } } : { method, params: {} }
  return JSON.stringify({ jsonrpc: '2.0', id, ...rest })
}

function wordsFor(values: number, levels: number): string | undefined {
  if (levels > MAX_MESSAGE_DEPTH) return `is nested more than ${MAX_MESSAGE_DEPTH} levels deep`
  return values > MAX_VALUES ? `has more than ${MAX_VALUES} values` : undefined
}
