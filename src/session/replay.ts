/** Tells an old conversation in fewer words: adjacent chunks of one message become one. Never used on the live path. */
import type { TextContent } from '../ports/content.ts'
import type { Entry } from './entries.ts'

/** Characters after which a merged chunk is passed on, so that a long message still arrives in pieces. */
const LONGEST_CHUNK = 64 * 1024

type SpokenChunk = Entry & {
  readonly kind: 'message_chunk'
  readonly role: 'agent' | 'thought'
  readonly content: TextContent
}

/** Holds back at most one chunk, to see whether the next entry continues it. A merged entry has the `seq` of its last part. */
export class Replay {
  #held: SpokenChunk | undefined

  push(entries: readonly Entry[]): readonly Entry[] {
    const told: Entry[] = []
    for (const entry of entries) this.#take(entry, told)
    return told
  }

  /** What is still held back, at the end. */
  flush(): readonly Entry[] {
    const held = this.#held
    this.#held = undefined
    return held === undefined ? [] : [held]
  }

  #take(entry: Entry, told: Entry[]): void {
    const held = this.#held
    if (held !== undefined && continues(held, entry)) {
      this.#held = { ...entry, content: { type: 'text', text: held.content.text + entry.content.text } }
      return
    }
    told.push(...this.flush())
    if (isSpoken(entry)) this.#held = entry
    else told.push(entry)
  }
}

function continues(held: SpokenChunk, entry: Entry): entry is SpokenChunk {
  return isSpoken(entry) && entry.messageId === held.messageId && held.content.text.length < LONGEST_CHUNK
}

/** Only bare text merges: annotations and `_meta` belong to the block that carried them. */
function isSpoken(entry: Entry): entry is SpokenChunk {
  if (entry.kind !== 'message_chunk' || entry.role === 'user') return false
  const { content } = entry
  return content.type === 'text' && content.annotations === undefined && content._meta === undefined
}
