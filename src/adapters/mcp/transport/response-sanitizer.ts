/** Repairs the answers of servers before the SDK sees them: the SDK rejects a whole answer for one malformed part. */
import type { JSONRPCMessage, Transport, TransportSendOptions } from '@modelcontextprotocol/client'
import { isNestedDeeper } from '../../../text/nesting.ts'
import type { ServerTool } from '../host/mcp-types.ts'
import { ANSWER_LOST, MAX_MESSAGE_DEPTH, NOT_PARSED } from './incoming-json.ts'
import { isObject, nonEmptyText, type JsonObject } from '../../checking/json.ts'
import { cleanTools } from '../client/lists/tool-list.ts'

/** The key in an answer's `_meta` that contains the answer exactly as the server sent it. */
export const RAW_RESULT = 'parley/result'

/** The tokens by which the streams of open answers can be resumed. */
export interface Resumptions {
  has(token: string): boolean
}

interface OpenRequests extends Resumptions {
  readonly methods: Map<string | number, string>
  readonly tokens: Map<string | number, string>
}

interface ResponseEvents {
  /** The server's name in messages. */
  readonly label: string
  /** Called before an answer is parsed. */
  readonly onAnswer: (method: string) => void
  /** Called with each page of tools and its size; returns whether to request another page. */
  readonly onTools: (tools: readonly ServerTool[], faults: readonly string[], chars: number) => boolean
}

type Mutable = Record<string, unknown>

export function trackRequests(): OpenRequests {
  const tokens = new Map<string | number, string>()
  return { methods: new Map(), tokens, has: (token) => [...tokens.values()].includes(token) }
}

/** Call it before the SDK's client gets the transport; the client calls a handler that is already set. */
export function sanitizeResponses(
  transport: Transport,
  open: OpenRequests,
  { label, onAnswer, onTools }: ResponseEvents,
): void {
  const send = transport.send.bind(transport)

  transport.onmessage = (message) => {
    if (isNestedDeeper(message, MAX_MESSAGE_DEPTH))
      dropContent(message, label, `is nested more than ${MAX_MESSAGE_DEPTH} levels deep`)
    if ('error' in message && message.error.code === NOT_PARSED) dropContent(message, label, message.error.message)
    if (!('id' in message) || 'method' in message) return
    const id = knownId(message.id, open)
    if (id === undefined) return
    const method = open.methods.get(id)
    open.methods.delete(id)
    open.tokens.delete(id)
    onAnswer(method ?? 'an unknown request')
    // Some servers answer the id 7 with "7".
    ;(message as Mutable).id = id
    if ('result' in message && isObject(message.result)) sanitize(method, message.result, onTools)
  }

  transport.send = async (message, options) => {
    if (!isRequest(message)) return await send(message, options)
    open.methods.set(message.id, message.method)
    await send(message, { ...options, ...watching(message.id, options) })
  }

  function watching(id: string | number, options: TransportSendOptions | undefined): TransportSendOptions {
    return {
      onresumptiontoken(token) {
        if (open.methods.has(id)) open.tokens.set(id, token)
        options?.onresumptiontoken?.(token)
      },
      onRequestStreamEnd() {
        options?.onRequestStreamEnd?.()
        // Otherwise the caller would notice the broken stream only by its timeout.
        if (open.methods.has(id)) transport.onmessage?.(lostAnswer(id))
      },
    }
  }
}

/** Turns an answer into an error that says why; a request or notification loses its parameters. */
function dropContent(message: JSONRPCMessage, label: string, what: string): void {
  const flat = message as Mutable
  if ('method' in flat) flat.params = {}
  if ('method' in flat) return
  delete flat.result
  flat.error = { code: ANSWER_LOST, message: `MCP server ${label} answered with JSON that ${what}` }
}

function knownId(id: unknown, { methods }: OpenRequests): string | number | undefined {
  if ((typeof id === 'string' || typeof id === 'number') && methods.has(id)) return id
  return typeof id === 'string' && id !== '' && methods.has(Number(id)) ? Number(id) : undefined
}

function isRequest(
  message: JSONRPCMessage,
): message is Extract<JSONRPCMessage, { method: string; id: string | number }> {
  return 'method' in message && 'id' in message
}

function lostAnswer(id: string | number): JSONRPCMessage {
  return { jsonrpc: '2.0', id, error: { code: ANSWER_LOST, message: 'the stream ended before the answer came' } }
}

/** The key of the list in the answers that contain one. */
const LISTS: Readonly<Record<string, string>> = {
  'resources/list': 'resources',
  'resources/templates/list': 'resourceTemplates',
  'prompts/list': 'prompts',
  'resources/read': 'contents',
  'prompts/get': 'messages',
}

function sanitize(method: string | undefined, result: Mutable, onTools: ResponseEvents['onTools']): void {
  if (method === undefined || isUnfinished(result)) return
  if (!isObject(result._meta)) delete result._meta
  sanitizeCaching(result)
  const list = LISTS[method]
  if (method === 'initialize') sanitizeGreeting(result)
  else if (method === 'tools/list') sanitizeTools(result, onTools)
  else if (method === 'tools/call') sanitizeCall(result)
  else if (method === 'completion/complete') sanitizeCompletion(result)
  else if (list !== undefined) hide(result, [list, 'nextCursor', 'description'], { [list]: [], ...cursorOf(result) })
}

/** In the newest protocol an answer may only request input. */
function isUnfinished({ resultType }: Mutable): boolean {
  return resultType !== undefined && resultType !== 'complete'
}

/** Validity of an answer is a hint; a malformed one counts as none. */
function sanitizeCaching(result: Mutable): void {
  const { ttlMs, cacheScope } = result
  if (ttlMs !== undefined && !(Number.isSafeInteger(ttlMs) && Number(ttlMs) >= 0)) result.ttlMs = 0
  if (cacheScope !== undefined && cacheScope !== 'public' && cacheScope !== 'private') result.cacheScope = 'private'
}

/** The name is part of every list of servers. */
const MAX_NAME_CHARS = 200

/** A server's description of itself is only for display; its protocol version and capabilities are used. */
function sanitizeGreeting(result: Mutable): void {
  const info = isObject(result.serverInfo) ? result.serverInfo : {}
  const title = nonEmptyText(info, 'title')
  const short = (text: string): string => text.slice(0, MAX_NAME_CHARS)
  result.serverInfo = {
    name: short(nonEmptyText(info, 'name') ?? title ?? 'nameless'),
    version: short(nonEmptyText(info, 'version') ?? '0'),
    ...(title !== undefined && { title: short(title) }),
  }
  if (typeof result.instructions !== 'string') delete result.instructions
  if (!isObject(result.capabilities)) result.capabilities = {}
}

function sanitizeTools(result: Mutable, onTools: ResponseEvents['onTools']): void {
  const { wire, tools, faults, chars } = cleanTools(
    Array.isArray(result.tools) ? (result.tools as readonly unknown[]) : [],
  )
  result.tools = wire
  if (!onTools(tools, faults, chars) || typeof result.nextCursor !== 'string') delete result.nextCursor
}

/** The SDK gets an empty, valid answer; Parley reads the original from `_meta`. */
function sanitizeCall(result: Mutable): void {
  hide(result, ['content', 'structuredContent', 'isError', 'task'], { content: [] })
}

/** The protocol's limit; more values are dropped instead of rejected. */
const MAX_SUGGESTIONS = 100

function sanitizeCompletion(result: Mutable): void {
  const { values } = isObject(result.completion) ? result.completion : {}
  const words = Array.isArray(values) ? values.filter((one) => typeof one === 'string') : []
  result.completion = { values: words.slice(0, MAX_SUGGESTIONS) }
}

function hide(result: Mutable, keys: readonly string[], instead: JsonObject): void {
  const raw: JsonObject = { ...result }
  for (const key of keys) delete result[key]
  Object.assign(result, instead)
  result._meta = { ...(isObject(result._meta) ? result._meta : {}), [RAW_RESULT]: raw }
}

function cursorOf({ nextCursor }: Mutable): JsonObject {
  return typeof nextCursor === 'string' ? { nextCursor } : {}
}
