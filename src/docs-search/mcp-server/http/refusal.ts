/** The answers to requests that never reach a tool: an HTTP status and one JSON-RPC error that says what to do. */
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'

interface Refusal {
  readonly status: number
  readonly code: number
  readonly message: string
  readonly headers?: Readonly<Record<string, string>>
}

const SERVER_ERROR = -32000

const REFUSALS = {
  path: { status: 404, code: SERVER_ERROR, message: 'There is nothing here. The MCP endpoint is /mcp.' },
  key: {
    status: 401,
    code: SERVER_ERROR,
    message: 'The key is missing or wrong. Send it as Authorization: Bearer KEY or X-API-Key: KEY.',
    headers: { 'WWW-Authenticate': 'Bearer realm="parley docs"' },
  },
  manyKeys: {
    status: 429,
    code: SERVER_ERROR,
    message: 'Too many wrong keys came from this address. Look whether the key is whole, and wait for a minute.',
    headers: { 'WWW-Authenticate': 'Bearer realm="parley docs"' },
  },
  method: {
    status: 405,
    code: SERVER_ERROR,
    message: 'Use POST for messages, GET for notifications, DELETE to end a session.',
    headers: { Allow: 'GET, POST, DELETE' },
  },
  postOnly: {
    status: 405,
    code: SERVER_ERROR,
    message: 'This protocol version only has POST. For notifications send subscriptions/listen.',
    headers: { Allow: 'POST' },
  },
  encoding: { status: 415, code: SERVER_ERROR, message: 'Send the body as it is, without Content-Encoding.' },
  mediaType: { status: 415, code: SERVER_ERROR, message: 'Send Content-Type: application/json.' },
  accept: {
    status: 406,
    code: SERVER_ERROR,
    message: 'The answer is application/json; accept that or leave Accept out.',
  },
  acceptStream: { status: 406, code: SERVER_ERROR, message: 'Notifications are text/event-stream; accept that.' },
  json: { status: 400, code: -32700, message: 'The body is not valid JSON.' },
  batch: { status: 400, code: -32600, message: 'This protocol version has no batches. Send one message per request.' },
  initialize: {
    status: 400,
    code: -32602,
    message: 'initialize needs protocolVersion, capabilities and clientInfo, which has a name and a version.',
  },
  sessionNeeded: {
    status: 400,
    code: SERVER_ERROR,
    message: 'There is no Mcp-Session-Id. Send initialize first, then the id from its answer with every request.',
  },
  sessionUnknown: {
    status: 404,
    code: -32001,
    message: 'There is no such session (any more). Send initialize without Mcp-Session-Id to start a new one.',
  },
} as const satisfies Record<string, Refusal>

export type RefusalName = keyof typeof REFUSALS

export function refusal(name: RefusalName): Response {
  const { status, headers }: Refusal = REFUSALS[name]
  return new Response(bodyOf(name), { status, headers: { 'Content-Type': 'application/json', ...headers } })
}

/** Refuses without reading the rest of the body. */
export function sendRefusal(response: ServerResponse, name: RefusalName, more: OutgoingHttpHeaders = {}): void {
  const { status, headers }: Refusal = REFUSALS[name]
  const body = bodyOf(name)
  const length = Buffer.byteLength(body)
  response.writeHead(status, {
    'Content-Type': 'application/json',
    'Content-Length': length,
    Connection: 'close',
    ...headers,
    ...more,
  })
  response.end(body)
}

function bodyOf(name: RefusalName): string {
  const { code, message } = REFUSALS[name]
  return JSON.stringify({ jsonrpc: '2.0', error: { code, message }, id: null })
}
