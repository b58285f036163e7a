/** What an ACP v1 client is told of an entry: one `session/update`, or nothing. */
import type { SlashCommand } from '../../../ports/content.ts'
import type { Entry, ForkPoint } from '../../../session/entries.ts'

export type Update = { readonly sessionUpdate: string } & Readonly<Record<string, unknown>>

const INTERRUPTED =
  'Interrupted: the server stopped while it was working on this. What was said until then is kept; prompt again to go on.'

/** Undefined for facts that v1 has no word for. */
export function updateOf(entry: Entry): Update | undefined {
  switch (entry.kind) {
    case 'message_chunk':
      return { sessionUpdate: CHUNK_OF[entry.role], content: entry.content, messageId: entry.messageId }
    case 'tool_call':
      return { sessionUpdate: 'tool_call', toolCallId: entry.toolCallId, ...entry.call }
    case 'tool_call_patched':
      return { sessionUpdate: 'tool_call_update', toolCallId: entry.toolCallId, ...entry.patch }
    case 'plan':
      return { sessionUpdate: 'plan', entries: entry.entries }
    case 'title':
      return titleUpdate(entry.title)
    case 'commands':
      return commandsUpdate(entry.commands)
    case 'forked_from':
      return forkedUpdate(entry.from)
    case 'notice':
      return spoken(entry.text, `notice-${entry.seq}`)
    case 'turn_ended':
      return endUpdate(entry)
    default:
      return undefined
  }
}

const CHUNK_OF = { user: 'user_message_chunk', agent: 'agent_message_chunk', thought: 'agent_thought_chunk' } as const

export function titleUpdate(title: string): Update {
  return { sessionUpdate: 'session_info_update', title }
}

/** v1 has no word for that either. */
function forkedUpdate({ session: sessionId, seq }: ForkPoint): Update {
  return { sessionUpdate: 'session_info_update', _meta: { 'parley/forkedFrom': { sessionId, seq } } }
}

/** Somebody has closed or deleted the session; v1 has no word for that, so it stands in a slot of our own. */
export function phaseUpdate(phase: 'closed' | 'deleted'): Update {
  return { sessionUpdate: 'session_info_update', _meta: { 'parley/phase': phase } }
}

export function commandsUpdate(commands: readonly SlashCommand[]): Update {
  const availableCommands = commands.map(({ name, description, hint }) => ({
    name,
    description,
    ...(hint === undefined ? {} : { input: { hint } }),
  }))
  return { sessionUpdate: 'available_commands_update', availableCommands }
}

/** v1 has no update for an end that no response carries; the transcript says it in words. */
function endUpdate(entry: Entry & { readonly kind: 'turn_ended' }): Update | undefined {
  const messageId = `${entry.turnId}-end`
  switch (entry.stopReason) {
    case 'interrupted':
      return spoken(entry.error?.message ?? INTERRUPTED, messageId)
    case 'error':
      return spoken(`This turn failed: ${entry.error?.message ?? 'the reason is not known.'}`, messageId)
    default:
      return undefined
  }
}

function spoken(text: string, messageId: string): Update {
  return { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text }, messageId }
}
