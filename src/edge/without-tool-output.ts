/** A connection that carries neither the arguments nor the results of tools: only that they ran, and how they ended. */
import { isFields } from '../rpc/json-rpc.ts'
import type { Transport } from './transport/transport.ts'

/** What of a tool call is kept. Agents put results into its `_meta` as well. */
const SHOWN: ReadonlySet<string> = new Set(['sessionUpdate', 'toolCallId', 'title', 'kind', 'status'])
/** Updates without anything of a tool. Of one that Parley does not know, an agent's own, as little is kept as of a call. */
const OF_NO_TOOL: ReadonlySet<unknown> = new Set([
  'user_message_chunk',
  'agent_message_chunk',
  'agent_thought_chunk',
  'plan',
  'available_commands_update',
  'current_mode_update',
  'config_option_update',
  'session_info_update',
  'usage_update',
  'notice',
  'compaction_update',
  'compaction_summary_chunk',
])

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
  if (!IS_SUSPECT.test(message)) return message
  return JSON.stringify(JSON.parse(message), (_key, value: unknown) => {
    if (Array.isArray(value)) return value.filter((one) => !isPassageOfTool(one)) as unknown
    if (!isFields(value) || !isUpdate(value) || OF_NO_TOOL.has(value['sessionUpdate'])) return value
    return Object.fromEntries(Object.entries(value).filter(([name]) => SHOWN.has(name)))
  })
}

/** Most messages have neither, and are sent as they are. */
const IS_SUSPECT = /"(?:sessionUpdate|by)"/u

function isUpdate(value: object): boolean {
  return 'sessionUpdate' in value
}

function isPassageOfTool(value: unknown): boolean {
  return isFields(value) && value['by'] === 'tool' && typeof value['text'] === 'string'
}
