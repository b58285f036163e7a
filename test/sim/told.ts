/** What a reader learns of a conversation, whichever way its text was cut: letter by letter, everything else as it is. */
import type { Entry } from '../../src/session/entries.ts'

export function told(entries: readonly Entry[]): readonly unknown[] {
  return entries.flatMap((entry): readonly unknown[] => {
    if (entry.kind !== 'message_chunk' || entry.role === 'user' || !isBare(entry.content)) return [entry]
    const { messageId, role, content } = entry
    return content.text.split('').map((letter) => `${messageId} ${role} ${letter}`)
  })
}

function isBare(content: { readonly type: string }): content is { readonly type: 'text'; readonly text: string } {
  return content.type === 'text' && Object.keys(content).length === 2
}
