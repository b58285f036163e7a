/** JSON-RPC as the relay reads and writes it: only what it must know; whatever is not well formed is left to the server. */
import type { ParleyError } from '../errors/parley-error.ts'

export type RequestId = string | number | null
export type Fields = Readonly<Record<string, unknown>>

export type Message =
  | { readonly kind: 'request'; readonly id: RequestId; readonly method: string; readonly params: Fields }
  | { readonly kind: 'notification'; readonly method: string; readonly params: Fields }
  | {
      readonly kind: 'response'
      readonly id: RequestId
      readonly result: Fields
      readonly errorCode: string | undefined
    }

export type Request = Message & { readonly kind: 'request' }
export type Notification = Message & { readonly kind: 'notification' }
export type Response = Message & { readonly kind: 'response' }

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** Undefined for what the server would not take for a message. */
export function read(line: Buffer): Message | undefined {
  try {
    const message: unknown = JSON.parse(utf8.decode(line))
    return isFields(message) && message['jsonrpc'] === '2.0' ? tellApart(message) : undefined
  } catch {
    // Neither UTF-8 nor JSON: the server says so, to whoever sent it.
    return undefined
  }
}

function tellApart(message: Fields): Message | undefined {
  const { id, method, params, result, error } = message
  if (method === undefined) {
    if (!isId(id) || (result === undefined && error === undefined)) return undefined
    return { kind: 'response', id, result: fieldsOf(result), errorCode: codeOf(error) }
  }
  if (typeof method !== 'string') return undefined
  if (!('id' in message)) return { kind: 'notification', method, params: fieldsOf(params) }
  return isId(id) ? { kind: 'request', id, method, params: fieldsOf(params) } : undefined
}

/** The code in an error's data by which programs know it; empty for an error without one. */
function codeOf(error: unknown): string | undefined {
  if (error === undefined || error === null) return undefined
  const code = fieldsOf(fieldsOf(error)['data'])['code']
  return typeof code === 'string' ? code : ''
}

function isId(id: unknown): id is RequestId {
  return typeof id === 'string' || typeof id === 'number' || id === null
}

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function fieldsOf(value: unknown): Fields {
  return isFields(value) ? value : {}
}

/** `1` and `"1"` are two ids. */
export function keyOf(id: RequestId): string {
  return JSON.stringify(id)
}

export function requestLine(id: RequestId, method: string, params: Fields): Buffer {
  return lineOf({ id, method, params })
}

export function notificationLine(method: string, params: Fields): Buffer {
  return lineOf({ method, params })
}

export function errorLine(id: RequestId, { rpc, message, code, retryable, details }: ParleyError): Buffer {
  return lineOf({ id, error: { code: rpc, message, data: { code, retryable, ...details } } })
}

function lineOf(message: Fields): Buffer {
  return Buffer.from(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
}
