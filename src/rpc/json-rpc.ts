/** JSON-RPC 2.0 messages: parsing, checking and writing them. Used by the edge, the relay, the client and `server/admin`. */
import { SHORT_JSON, jsonOutlineOf } from './json-outline.ts'

export type RequestId = string | number | null

export interface Request {
  readonly kind: 'request'
  readonly id: RequestId
  readonly method: string
  readonly params: unknown
}

export interface Notification {
  readonly kind: 'notification'
  readonly method: string
  readonly params: unknown
}

export interface Response {
  readonly kind: 'response'
  readonly id: RequestId
  readonly result: unknown
  /** Undefined when the request succeeded. */
  readonly error: ResponseError | undefined
}

export interface ResponseError {
  /** The code in the error's data by which programs know it, else the number of JSON-RPC, else `unknown`. */
  readonly code: string
  /** As the other side wrote it; undefined where it gave none. */
  readonly message: string | undefined
  /** The number of JSON-RPC, if it is one. */
  readonly number?: number
  readonly data?: unknown
}

export type Message = Request | Notification | Response

/** A text that is not a usable message. */
export interface Unreadable {
  readonly kind: 'unreadable'
  /** The request that this refuses; null where it names none. */
  readonly id: RequestId
  readonly problem: 'malformed' | 'invalid' | 'too_large'
  readonly reason: string
}

/** Parsing more values takes a good part of a second, in which no client is served; deeper nesting as well. */
const MAX_VALUES = 500_000
const MAX_LEVELS = 100_000

/** `lenient` is for a client of foreign agents: it accepts a message without `jsonrpc` and a response without a result. */
export function parseMessage(text: string, rules: 'strict' | 'lenient' = 'strict'): Message | Unreadable {
  let message: unknown
  try {
    message = JSON.parse(text)
  } catch {
    return unreadable('malformed', 'it does not parse')
  }
  if (typeof message !== 'object' || message === null) return invalid('it is not an object')
  if (Array.isArray(message)) return invalid('batches are not part of ACP')
  return messageIn(message as Record<string, unknown>, rules)
}

/** For a server, which must keep serving other clients: the response to a message that is too costly to parse, or undefined. */
export function refuseCostly(text: string): Response | Unreadable | undefined {
  if (text.length <= SHORT_JSON) return undefined
  const { values, levels, id, method } = jsonOutlineOf(text)
  if (values <= MAX_VALUES && levels <= MAX_LEVELS) return undefined
  const reason =
    levels > MAX_LEVELS ? `it is nested more than ${MAX_LEVELS} levels deep` : `it has more than ${MAX_VALUES} values`
  const isResponse = id !== undefined && method === undefined
  if (isResponse) return { kind: 'response', id, result: undefined, error: { code: 'unknown', message: reason } }
  return { kind: 'unreadable', id: id ?? null, problem: 'too_large', reason }
}

/** The id of the request that begins with these bytes; null where they name none, or are of another message. */
export function requestBegunBy(beginning: Uint8Array): RequestId {
  const { id, method } = jsonOutlineOf(new TextDecoder().decode(beginning))
  return method === undefined ? null : (id ?? null)
}

function messageIn(message: Record<string, unknown>, rules: 'strict' | 'lenient'): Message | Unreadable {
  const { jsonrpc, id, method } = message
  // The schema of ACP lets `null` stand for absent parameters.
  const params = message['params'] ?? undefined
  if (rules === 'strict' && jsonrpc !== '2.0') return invalid('jsonrpc must be "2.0"')
  if (method === undefined) return responseIn(message, rules)
  if (typeof method !== 'string') return invalid('method must be a string')
  // A notification is never answered, so that nothing is said about wrong parameters of one either.
  if (!('id' in message)) return { kind: 'notification', method, params }
  if (!isId(id)) return invalid('id must be a string or a number')
  // The refusal has the id of the request, because the client waits for its answer.
  if (params !== undefined && typeof params !== 'object') return invalid('params must be an object', id)
  return { kind: 'request', id, method, params }
}

function responseIn(message: Record<string, unknown>, rules: 'strict' | 'lenient'): Response | Unreadable {
  const { id, result, error } = message
  const isComplete = result !== undefined || error !== undefined
  if (!isId(id) || (rules === 'strict' && !isComplete)) return invalid('it has neither method nor result')
  // Some programs write `error: null` beside a result.
  return { kind: 'response', id, result, error: error === undefined || error === null ? undefined : errorIn(error) }
}

function errorIn(error: unknown): ResponseError {
  const { code, message, data } = fieldsOf(error)
  const known = [fieldsOf(data)['code'], code].find((one) => typeof one === 'string' || typeof one === 'number')
  return {
    code: String(known ?? 'unknown'),
    message: typeof message === 'string' && message !== '' ? message : undefined,
    ...(typeof code === 'number' && { number: code }),
    ...(data !== undefined && { data }),
  }
}

function isId(id: unknown): id is RequestId {
  return typeof id === 'string' || typeof id === 'number' || id === null
}

function invalid(reason: string, id: RequestId = null): Unreadable {
  return unreadable('invalid', reason, id)
}

function unreadable(problem: Unreadable['problem'], reason: string, id: RequestId = null): Unreadable {
  return { kind: 'unreadable', id, problem, reason }
}

/** The members of an object whose types are not checked yet. */
export type Fields = Readonly<Record<string, unknown>>

/** The members of an object; none for anything else. */
export function fieldsOf(value: unknown): Fields {
  return isFields(value) ? value : {}
}

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function requestMessage(id: RequestId, method: string, params: unknown): string {
  return JSON.stringify({ jsonrpc: '2.0', id, method, params })
}

export function notificationMessage(method: string, params: unknown): string {
  return JSON.stringify({ jsonrpc: '2.0', method, params })
}

export function resultMessage(id: RequestId, result: unknown): string {
  return JSON.stringify({ jsonrpc: '2.0', id, result })
}

/** An error of ours as `errorMessage` sends it: the public fields of `ParleyError`. */
export interface ErrorToSend {
  readonly code: string
  /** The code of JSON-RPC. */
  readonly rpc: number
  readonly message: string
  readonly retryable: boolean
  readonly details: object
}

/** The other side gets a code for programs and a sentence for users, and no internal details. */
export function errorMessage(id: RequestId, { code, rpc, message, retryable, details }: ErrorToSend): string {
  const data = { code, retryable, ...clipDetails(details) }
  return JSON.stringify({ jsonrpc: '2.0', id, error: { code: rpc, message: singleLine(message), data } })
}

/** A failure that was stored: the journal holds its code and sentence, and of a few the details. */
export function failureMessage(
  id: RequestId,
  { code, rpc, message, details = {} }: Omit<ErrorToSend, 'retryable' | 'details'> & { readonly details?: object },
): string {
  const data = { code, ...clipDetails(details) }
  return JSON.stringify({ jsonrpc: '2.0', id, error: { code: rpc, message: singleLine(message), data } })
}

/** Characters: as long as a path may be. */
const MAX_TEXT_CHARS = 4_096

/** A sentence that can be shown on one line, whatever it quotes of what the other side sent. */
export function singleLine(message: string): string {
  return clip(message.replace(/\p{Cc}+/gu, ' '))
}

function clipDetails(details: object): object {
  return Object.fromEntries(
    Object.entries(details).map(([key, value]) => [key, typeof value === 'string' ? clip(value) : value]),
  )
}

function clip(text: string): string {
  return text.length <= MAX_TEXT_CHARS ? text : `${text.slice(0, MAX_TEXT_CHARS - 1)}…`
}

/**
 * Requests that one side has sent and whose responses it still expects. Used by the edge, the relay, the client and `server/admin`.
 * `Waiter` is what the sender keeps until the response comes: by default the function that handles it. */
export class PendingRequests<Waiter = (response: Response) => void> {
  readonly #prefix: string
  readonly #open = new Map<RequestId, Waiter>()
  #count = 0

  /** Ids of requests begin with `prefix`, so that a response meant for an earlier process is never taken for ours. */
  constructor(prefix: string) {
    this.#prefix = prefix
  }

  get isEmpty(): boolean {
    return this.#open.size === 0
  }

  /** The id for a new request. */
  open(waiter: Waiter): string {
    this.#count += 1
    const id = `${this.#prefix}${this.#count}`
    this.#open.set(id, waiter)
    return id
  }

  /** Expects the response to a request whose id the caller has chosen. */
  expect(id: RequestId, waiter: Waiter): void {
    this.#open.set(id, waiter)
  }

  /** Removes and returns what waits for this response; undefined when it came before, or was withdrawn. */
  take(id: RequestId): Waiter | undefined {
    const waiter = this.#open.get(id)
    this.#open.delete(id)
    return waiter
  }

  /** The response is no longer wanted; false when it came before. */
  withdraw(id: RequestId): boolean {
    return this.#open.delete(id)
  }

  /** The connection is gone: removes and returns everything that still waits. */
  takeAll(): readonly Waiter[] {
    const waiters = [...this.#open.values()]
    this.#open.clear()
    return waiters
  }
}
