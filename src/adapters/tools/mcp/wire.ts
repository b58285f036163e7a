/** Stands between a transport and the protocol layer, which throws whole answers away where a part would do. */
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client'
import type { ServerTool } from '../connection.ts'
import { isObject, type JsonObject } from './json.ts'
import { cleanTools } from './tool-list.ts'

/** Under this key of an answer's `_meta` stands the result of a call exactly as the server sent it. */
export const RAW_RESULT = 'parley/result'
/** The code of the error that we put in place of an answer that cannot come any more. */
export const ANSWER_LOST = -32097

export interface WireEvents {
  /** A page of tools came in. */
  readonly onTools: (tools: readonly ServerTool[], faults: readonly string[]) => void
}

type Mutable = Record<string, unknown>

/** Call it before the transport is handed to the client, which keeps a handler that it finds. */
export function watchWire(transport: Transport, { onTools }: WireEvents): void {
  const open = new Set<unknown>()
  const send = transport.send.bind(transport)

  transport.onmessage = (message) => {
    if (!('id' in message) || 'method' in message) return
    open.delete(message.id)
    if ('result' in message && isObject(message.result)) tame(message.result, onTools)
  }

  transport.send = async (message, options) => {
    if (!isRequest(message)) return await send(message, options)
    open.add(message.id)
    const onRequestStreamEnd = (): void => {
      options?.onRequestStreamEnd?.()
      // Without this the caller would learn of the broken stream only by its own timeout.
      if (open.has(message.id)) transport.onmessage?.(lostAnswer(message.id))
    }
    await send(message, { ...options, onRequestStreamEnd })
  }
}

function isRequest(
  message: JSONRPCMessage,
): message is Extract<JSONRPCMessage, { method: string; id: string | number }> {
  return 'method' in message && 'id' in message
}

function lostAnswer(id: string | number): JSONRPCMessage {
  return { jsonrpc: '2.0', id, error: { code: ANSWER_LOST, message: 'the stream ended before the answer came' } }
}

function tame(result: Mutable, onTools: WireEvents['onTools']): void {
  if (Array.isArray(result.tools)) tameTools(result, result.tools, onTools)
  else if ('content' in result || 'structuredContent' in result) tameCall(result)
}

function tameTools(result: Mutable, raw: readonly unknown[], onTools: WireEvents['onTools']): void {
  const { wire, tools, faults } = cleanTools(raw)
  result.tools = wire
  if (typeof result.nextCursor !== 'string') delete result.nextCursor
  onTools(tools, faults)
}

/** The protocol layer gets an empty answer that no rule can refuse; ours is read from what stands beside it. */
function tameCall(result: Mutable): void {
  const raw: JsonObject = { ...result }
  for (const key of ['content', 'structuredContent', 'isError']) delete result[key]
  result.content = []
  result._meta = { ...(isObject(result._meta) ? result._meta : {}), [RAW_RESULT]: raw }
}
