/** A prompt as it is sent to an agent, and its response as the end of a turn. Pure. */
import { fail } from '../../../../errors/parley-error.ts'
import type { PromptKinds, StopReason } from '../../../../ports/agent.ts'
import type { Content } from '../../../../ports/values/content.ts'
import { fieldsOf } from '../../../../rpc/json-rpc.ts'
import { contentOut } from '../updates/content.ts'

/** What the agent does not take becomes text. `preamble` comes first. */
export function promptBlocks(prompt: readonly Content[], kinds: PromptKinds, preamble: string): readonly object[] {
  const blocks = prompt.map((content) => contentOut(taken(content, kinds)))
  return preamble === '' ? blocks : [{ type: 'text', text: preamble }, ...blocks]
}

function taken(content: Content, kinds: PromptKinds): Content {
  if (content.type === 'resource' && !kinds.embeddedContext) {
    const { resource } = content
    const text = 'text' in resource ? resource.text : '(this file is not text)'
    return { type: 'text', text: `<context uri=${JSON.stringify(resource.uri)}>\n${text}\n</context>` }
  }
  const isRefused = (content.type === 'image' && !kinds.image) || (content.type === 'audio' && !kinds.audio)
  return isRefused ? { type: 'text', text: `[an attachment of type ${content.type}, which you cannot take]` } : content
}

const STOP_REASONS: Readonly<Record<string, StopReason>> = {
  end_turn: 'end_turn',
  max_tokens: 'max_tokens',
  max_turn_requests: 'max_steps',
  refusal: 'refusal',
  cancelled: 'cancelled',
}

/** Throws AGENT_FAILED for a response that gives no reason that is known. */
export function stopReasonIn(response: unknown): StopReason {
  const { stopReason } = fieldsOf(response)
  const known = typeof stopReason === 'string' ? STOP_REASONS[stopReason] : undefined
  const given = JSON.stringify(stopReason ?? response ?? null).slice(0, 200)
  return known ?? fail('AGENT_FAILED', { reason: `it ended the turn for a reason that is not known: ${given}` })
}
