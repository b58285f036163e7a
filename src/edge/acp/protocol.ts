/** JSON-RPC as both sides of ACP write it: what arrives, told apart; what is sent, as one line. */
import { ParleyError, fail } from '../../errors/parley-error.ts'
import { outlineOf, SHORT_JSON } from '../../text/json-outline.ts'
import type { Line } from '../transport/lines.ts'

export type RequestId = string | number | null

export type Incoming =
  /** A request that was not read. */
  | { readonly kind: 'refused'; readonly id: RequestId; readonly error: ParleyError }
  | { readonly kind: 'request'; readonly id: RequestId; readonly method: string; readonly params: unknown }
  | { readonly kind: 'notification'; readonly method: string; readonly params: unknown }
  | {
      readonly kind: 'response'
      readonly id: RequestId
      readonly result: unknown
      readonly failed: boolean
      /** Why it failed, in one line. */
      readonly reason?: string | undefined
    }

/** More take a good part of a second to parse, in which no client is served; deeper ones as well. */
const MOST_VALUES = 500_000
const DEEPEST = 100_000

/** Throws MESSAGE_MALFORMED, MESSAGE_INVALID or MESSAGE_TOO_LARGE. */
export function parseMessage(text: string): Incoming {
  if (text.length > SHORT_JSON) {
    const refused = refusedUnread(text)
    if (refused !== undefined) return refused
  }
  const message = parseJson(text)
  if (typeof message !== 'object' || message === null) return invalid('it is not an object')
  if (Array.isArray(message)) return invalid('batches are not part of ACP')
  return tellApart(message as Record<string, unknown>)
}

/** What stands in place of a message that is too costly to parse; notifications of that kind are worth no more than a complaint. */
function refusedUnread(text: string): Incoming | undefined {
  const { values, levels, id, method } = outlineOf(text)
  if (values <= MOST_VALUES && levels <= DEEPEST) return undefined
  const reason =
    levels > DEEPEST ? `it is nested more than ${DEEPEST} levels deep` : `it has more than ${MOST_VALUES} values`
  if (id === undefined) return fail('MESSAGE_TOO_LARGE', { reason })
  if (method === undefined) return { kind: 'response', id, result: undefined, failed: true, reason }
  return { kind: 'refused', id, error: new ParleyError('MESSAGE_TOO_LARGE', { reason }) }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    return fail('MESSAGE_MALFORMED', { reason: 'it does not parse' }, error)
  }
}

function tellApart(message: Record<string, unknown>): Incoming {
  const { jsonrpc, id, method } = message
  // The schema of ACP lets `null` stand for parameters that are absent.
  const params = message['params'] ?? undefined
  if (jsonrpc !== '2.0') return invalid('jsonrpc must be "2.0"')
  if (method === undefined) return response(message)
  if (typeof method !== 'string') return invalid('method must be a string')
  if (params !== undefined && typeof params !== 'object') return invalid('params must be an object')
  if (!('id' in message)) return { kind: 'notification', method, params }
  return isId(id) ? { kind: 'request', id, method, params } : invalid('id must be a string or a number')
}

function response(message: Record<string, unknown>): Incoming {
  const { id, result, error } = message
  if (!isId(id) || (result === undefined && error === undefined)) return invalid('it has neither method nor result')
  // Some write `error: null` beside a result.
  const failed = error !== undefined && error !== null
  return { kind: 'response', id, result, failed, ...(failed ? { reason: reasonIn(error) } : {}) }
}

function reasonIn(error: unknown): string | undefined {
  const { message } = error as { readonly message?: unknown }
  return typeof message === 'string' && message !== '' ? sentence(message) : undefined
}

function isId(id: unknown): id is RequestId {
  return typeof id === 'string' || typeof id === 'number' || id === null
}

function invalid(reason: string): never {
  return fail('MESSAGE_INVALID', { reason })
}

export function resultLine(id: RequestId, result: unknown): string {
  return `${JSON.stringify({ jsonrpc: '2.0', id, result })}\n`
}

/** What anyone is told of a failure: a code that programs know, a sentence for people, nothing of our insides. */
export function errorLine(id: RequestId, error: ParleyError): string {
  const data = { code: error.code, retryable: error.retryable, ...clipped(error.details) }
  return `${JSON.stringify({ jsonrpc: '2.0', id, error: { code: error.rpc, message: sentence(error.message), data } })}\n`
}

/** As long as a path may be. */
const LONGEST = 4_096

/** One line that can be shown, whatever it quotes of what the client sent. */
function sentence(message: string): string {
  return clip(message.replace(/\p{Cc}+/gu, ' '))
}

function clipped(details: object): object {
  return Object.fromEntries(
    Object.entries(details).map(([key, value]) => [key, typeof value === 'string' ? clip(value) : value]),
  )
}

function clip(text: string): string {
  return text.length <= LONGEST ? text : `${text.slice(0, LONGEST - 1)}…`
}

/** A failure that an entry tells of: its code and sentence were stored with it. */
export function failureLine(
  id: RequestId,
  { code, message }: { readonly code: string; readonly message: string },
): string {
  return `${JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32603, message: sentence(message), data: { code } } })}\n`
}

export function requestLine(id: RequestId, method: string, params: unknown): string {
  return `${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`
}

export function notificationLine(method: string, params: unknown): string {
  return `${JSON.stringify({ jsonrpc: '2.0', method, params })}\n`
}

export function textOf(line: Line): string {
  switch (line.kind) {
    case 'line':
      return line.text
    case 'too_long':
      return fail('MESSAGE_TOO_LONG', { limit: 32 * 1024 * 1024 })
    case 'cut_off':
      return fail('UNFINISHED_LIMIT', { limit: line.limit })
    case 'not_utf8':
      return fail('MESSAGE_MALFORMED', { reason: 'it is not UTF-8' })
  }
}

/** The session that a message concerns, if it names one. */
export function sessionOf(params: unknown): string | undefined {
  const sessionId = (params as { readonly sessionId?: unknown } | undefined)?.sessionId
  return typeof sessionId === 'string' ? sessionId : undefined
}

/** The request that a notification is about. */
export function requestIdOf(params: unknown): RequestId {
  const requestId = (params as { readonly requestId?: unknown } | undefined)?.requestId
  return typeof requestId === 'string' || typeof requestId === 'number' ? requestId : null
}
