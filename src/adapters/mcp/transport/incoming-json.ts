/**
 * Several messages in one array, as servers of protocol 2025-03-26 may send them. They are taken apart whatever protocol was agreed on:
 * a request whose answer stands in an array would otherwise wait until its time is over.
 */
import { SHORT_JSON, outlineOf } from '../../../rpc/json-outline.ts'
import { isStream } from './read-throttle.ts'

/** What a line says, one message after the other. What is no JSON is given back as it came. */
export function saidIn(line: string): readonly unknown[] {
  try {
    const said: unknown = JSON.parse(bearable(line))
    return Array.isArray(said) && said.length > 0 ? said : [said]
  } catch {
    return [line]
  }
}

/** The same response; a stream of events has an event for each message, and so has an array that was the whole answer. */
export async function withoutBatches(response: Response): Promise<Response> {
  if (response.body === null || !response.ok) return response
  if (isStream(response)) return answerLike(response, response.body.pipeThrough(apart()))
  if (response.headers.get('content-type')?.startsWith('application/json') !== true) return response
  const text = bearable(await response.text())
  if (!/^\s*\[/u.test(text)) return answerLike(response, text)
  const events = answerLike(
    response,
    saidIn(text)
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

function apart(): TransformStream<Uint8Array, Uint8Array> {
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

/** Two ends of lines. A carriage return that comes last may be half of one: its line feed must not be kept back. */
const END_OF_EVENT = /(?:\r\n|\n|\r(?!\n))(?:\r\n|\n|\r(?!\n|$))/gu
const BATCH = /^data: ?\[/mu

/** Collects text and gives back the events that are complete, those with an array of messages in pieces. */
function eventCutter(): (text: string) => string {
  let waiting: string[] = []
  let tail = ''
  return (text) => {
    // A blank line may come in two pieces; what was looked at is not looked at again, for an event may be long.
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
    return BATCH.test(whole) || whole.length > SHORT_JSON ? eventsIn(whole).map(inPieces).join('') : whole
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

function inPieces(event: string): string {
  if (!BATCH.test(event) && event.length <= SHORT_JSON) return event
  const lines = event.split(/\r\n|\n|\r/u)
  const isData = (line: string): boolean => line.startsWith('data:')
  const data = lines.filter(isData).map((line) => line.slice('data:'.length))
  const whole = data.join('\n')
  if (!BATCH.test(event) && bearable(whole) === whole) return event
  const head = lines.filter((line) => line !== '' && !isData(line)).map((line) => `${line}\n`)
  const said = saidIn(whole)
  // Of what is no JSON the protocol layer says so.
  if (typeof said[0] === 'string' && said.length === 1) return event
  return said.map((message) => eventOf(message, head.join(''))).join('')
}

function eventOf(message: unknown, head = ''): string {
  return `${head}data: ${JSON.stringify(message)}\n\n`
}

/** The code of the error that stands in place of such an answer; its message ends a sentence that begins "JSON that". */
export const NOT_PARSED = -32096

/** Deeper messages are never shown to anything that goes through them by recursion: it would run out of stack. */
export const DEEPEST = 1_000
/** Lists, objects, texts, numbers: more take a good part of a second to parse, in which no client is served. */
export const MOST_VALUES = 1_000_000

/** The same text, if it may be parsed. */
export function bearable(text: string): string {
  if (text.length <= SHORT_JSON) return text
  const { values, levels, id, method } = outlineOf(text)
  const why = wordsFor(values, levels)
  if (why === undefined) return text
  const rest = method === undefined ? { error: { code: NOT_PARSED, message: why } } : { method, params: {} }
  return JSON.stringify({ jsonrpc: '2.0', id, ...rest })
}

function wordsFor(values: number, levels: number): string | undefined {
  if (levels > DEEPEST) return `is nested more than ${DEEPEST} levels deep`
  return values > MOST_VALUES ? `has more than ${MOST_VALUES} values` : undefined
}
