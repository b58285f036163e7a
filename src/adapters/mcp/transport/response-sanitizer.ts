/** Stands between a transport and the protocol layer, which throws whole answers away where a part would do. */
import type { JSONRPCMessage, Transport, TransportSendOptions } from '@modelcontextprotocol/client'
import { isNestedDeeper } from '../../../text/nesting.ts'
import type { ServerTool } from '../host/mcp-types.ts'
import { DEEPEST, NOT_PARSED } from './incoming-json.ts'
import { isObject, textIn, type JsonObject } from '../../checking/json.ts'
import { cleanTools } from '../client/lists/tool-list.ts'

/** Under this key of an answer's `_meta` stands the answer exactly as the server sent it. */
export const RAW_RESULT = 'parley/result'
/** The code of the error that we put in place of an answer that cannot come any more. */
export const ANSWER_LOST = -32097

/** What the streams of open answers can be resumed by. */
export interface Resumptions {
  has(token: string): boolean
}

interface OpenRequests extends Resumptions {
  readonly methods: Map<string | number, string>
  readonly tokens: Map<string | number, string>
}

interface ResponseEvents {
  /** What the server is called in sentences. */
  readonly label: string
  /** It is about to be read. */
  readonly onAnswer: (method: string) => void
  /** A page of tools came in, of so many characters. Whether another page is wanted. */
  readonly onTools: (tools: readonly ServerTool[], faults: readonly string[], chars: number) => boolean
}

type Mutable = Record<string, unknown>

export function trackRequests(): OpenRequests {
  const tokens = new Map<string | number, string>()
  return { methods: new Map(), tokens, has: (token) => [...tokens.values()].includes(token) }
}

/** Call it before the transport is handed to the client, which keeps a handler that it finds. */
export function sanitizeResponses(
  transport: Transport,
  open: OpenRequests,
  { label, onAnswer, onTools }: ResponseEvents,
): void {
  const send = transport.send.bind(transport)

  transport.onmessage = (message) => {
    if (isNestedDeeper(message, DEEPEST)) flatten(message, label, `is nested more than ${DEEPEST} levels deep`)
    if ('error' in message && message.error.code === NOT_PARSED) flatten(message, label, message.error.message)
    if (!('id' in message) || 'method' in message) return
    const id = knownId(message.id, open)
    if (id === undefined) return
    const method = open.methods.get(id)
    open.methods.delete(id)
    open.tokens.delete(id)
    onAnswer(method ?? 'an unknown request')
    // Some servers answer 7 with "7".
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
        // Without this the caller would learn of the broken stream only by its own timeout.
        if (open.methods.has(id)) transport.onmessage?.(lostAnswer(id))
      },
    }
  }
}

/** An answer becomes an error that says why; anything else loses its parameters, and is refused where it has to have some. */
function flatten(message: JSONRPCMessage, label: string, what: string): void {
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

/** Where the list stands in an answer that is one. */
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

/** The newest protocol has answers that only ask for more. */
function isUnfinished({ resultType }: Mutable): boolean {
  return resultType !== undefined && resultType !== 'complete'
}

/** How long an answer holds is a hint; a malformed one means not at all. */
function sanitizeCaching(result: Mutable): void {
  const { ttlMs, cacheScope } = result
  if (ttlMs !== undefined && !(Number.isSafeInteger(ttlMs) && Number(ttlMs) >= 0)) result.ttlMs = 0
  if (cacheScope !== undefined && cacheScope !== 'public' && cacheScope !== 'private') result.cacheScope = 'private'
}

/** Every list of servers that anyone is sent has it. */
const LONGEST_NAME = 200

/** What a server says of itself is for people; only its protocol and its capabilities matter. */
function sanitizeGreeting(result: Mutable): void {
  const info = isObject(result.serverInfo) ? result.serverInfo : {}
  const title = textIn(info, 'title')
  const short = (text: string): string => text.slice(0, LONGEST_NAME)
  result.serverInfo = {
    name: short(textIn(info, 'name') ?? title ?? 'nameless'),
    version: short(textIn(info, 'version') ?? '0'),
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

/** The protocol layer gets an empty answer that no rule can refuse; ours is read from what stands beside it. */
function sanitizeCall(result: Mutable): void {
  hide(result, ['content', 'structuredContent', 'isError', 'task'], { content: [] })
}

/** A server may suggest a hundred values; one that suggests more is not refused for it. */
const MOST_SUGGESTIONS = 100

function sanitizeCompletion(result: Mutable): void {
  const { values } = isObject(result.completion) ? result.completion : {}
  const words = Array.isArray(values) ? values.filter((one) => typeof one === 'string') : []
  result.completion = { values: words.slice(0, MOST_SUGGESTIONS) }
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
