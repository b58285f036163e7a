/** What the server needs of a format: how requests are read and answers are written. */
import type { Asked, Failure } from './script.ts'
import type { Event } from './turn.ts'

export interface Wire {
  /** The part of the request that this format has its own words for. */
  read(body: Body, path: string): Pick<Asked, 'model' | 'system' | 'messages' | 'tools'>
  /** The bytes of an answer, event by event. */
  writer(model: string): (event: Event) => string
  models(names: readonly string[]): unknown
  failure(failure: Failure, words: string | undefined): Refusal
  /** An error in the middle of a stream. */
  broken(refusal: Refusal): string
}

export interface Refusal {
  readonly status: number
  readonly body: unknown
  readonly headers?: Readonly<Record<string, string>>
}

export type Body = Readonly<Record<string, unknown>>

export function sse(data: unknown, event?: string): string {
  return `${event === undefined ? '' : `event: ${event}\n`}data: ${JSON.stringify(data)}\n\n`
}

/** The text of a content that is a string or a list of parts. */
export function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  return partsOf(content)
    .map((part) => (typeof part['text'] === 'string' ? part['text'] : ''))
    .join('')
}

export function partsOf(content: unknown): readonly Body[] {
  return Array.isArray(content) ? (content as readonly Body[]) : []
}

/** Arguments come in pieces, as models write them. */
export function inPieces(text: string, size = 12): readonly string[] {
  const pieces = []
  for (let at = 0; at < text.length; at += size) pieces.push(text.slice(at, at + size))
  return pieces
}
