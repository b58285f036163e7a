/** A connection that carries neither the arguments nor the results of tools: only that they ran, and how it went. */
import { isFields } from '../rpc/json-rpc.ts'
import type { Transport } from './transport/transport.ts'

/** What of a tool call is kept. */
const SHOWN: ReadonlySet<string> = new Set(['sessionUpdate', 'toolCallId', 'title', 'kind', 'status', '_meta'])
const IS_CALL = /^tool_call(?:_|$)/u

/** The same connection; what it sends has no output of tools in it. */
export function withoutToolOutput(transport: Transport): Transport {
  return new Proxy(transport, {
    get(target, key) {
      if (key === 'send') return (messages: readonly string[]) => target.send(messages.map(withoutOutput))
      const value: unknown = Reflect.get(target, key, target)
      return typeof value === 'function' ? (value.bind(target) as unknown) : value
    },
  })
}

/** Wherever it stands in the message: an update, a page of updates, the passages of a search. */
function withoutOutput(message: string): string {
  if (!message.includes('tool')) return message
  return JSON.stringify(JSON.parse(message), (_key, value: unknown) => {
    if (Array.isArray(value)) return value.filter((one) => !isPassageOfTool(one)) as unknown
    if (!isFields(value) || !IS_CALL.test(String(value['sessionUpdate']))) return value
    return Object.fromEntries(Object.entries(value).filter(([name]) => SHOWN.has(name)))
  })
}

function isPassageOfTool(value: unknown): boolean {
  return isFields(value) && value['by'] === 'tool' && typeof value['text'] === 'string'
}
