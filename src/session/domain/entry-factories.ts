/** The entries that begin a turn and that tell of its tool calls. */
import type { Content, Meta, ToolCallPatch } from '../../ports/content.ts'
import type { Body } from './entries.ts'
import { type Busy, isKnownCall } from './state.ts'

interface Said {
  readonly promptId: string
  readonly content: readonly Content[]
  readonly meta?: Meta
}

/** A turn and, as its first message, what the user said. */
export function beginTurn(number: number, { promptId, content, meta }: Said): readonly Body[] {
  const turnId = `t${number}`
  const messageId = `${turnId}-user`
  return [
    { kind: 'turn_started', turnId, promptId },
    ...content.map((content, at): Body => {
      const attached = at === 0 && meta !== undefined ? { meta } : {}
      return { kind: 'message_chunk', role: 'user', messageId, promptId, content, ...attached }
    }),
  ]
}

export function callSaid(event: CallSaid, { turn }: Busy): readonly Body[] {
  const { toolCallId, patch } = event
  if (isKnownCall(turn, toolCallId)) return [{ kind: 'tool_call_patched', toolCallId, patch }]
  return [{ kind: 'tool_call', toolCallId, call: { ...patch, title: patch.title ?? patch.name ?? toolCallId } }]
}

/** What an agent says of one of its tool calls. */
export interface CallSaid {
  readonly toolCallId: string
  readonly patch: ToolCallPatch
}
