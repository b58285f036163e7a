/** Ids of tool calls: ours are unique in the session, a provider gets its own back as far as they tell calls apart. */
import type { Clock } from '../../../ports/clock.ts'
import type { ModelMessage, ModelToolCall } from '../../../ports/model.ts'
import { ofProvider } from './provider-metadata.ts'

const LENGTH = 9

/** Nine letters and digits, the strictest that any provider asks of an id that is sent to it. */
export function newCallId(clock: Clock): string {
  const chance = BigInt(`0x${clock.id().replaceAll(/[^0-9a-f]/gu, '') || '0'}`)
  const id = (chance % 36n ** BigInt(LENGTH)).toString(36)
  return id.padStart(LENGTH, '0')
}

/**
 * What each call is called when it is sent. The first call of an id keeps it for ever, so what was sent before is sent
 * unchanged however the conversation grows.
 */
export function sentIds(messages: readonly ModelMessage[], provider: string): ReadonlyMap<string, string> {
  const sent = new Map<string, string>()
  const taken = new Set<string>()
  for (const call of messages.flatMap(callsOf)) {
    const own = ofProvider(call.provider, provider)?.id
    const id = own === undefined || own === '' || taken.has(own) ? call.id : own
    taken.add(id)
    sent.set(call.id, id)
  }
  return sent
}

function callsOf(message: ModelMessage): readonly ModelToolCall[] {
  return message.role === 'assistant' ? message.parts.filter((part) => part.kind === 'call') : []
}
