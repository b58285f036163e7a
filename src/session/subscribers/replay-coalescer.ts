/**
 * Shortens a replayed conversation: adjacent chunks of one message become one entry, and so do a tool call and the patches that
 * follow it. Live entries are never merged.
 */
import type { TextContent } from '../../ports/values/content.ts'
import type { Entry } from '../domain/entries.ts'

/** A merged chunk is passed on at this length, so that a long message still arrives in pieces. */
const MAX_CHUNK_CHARS = 64 * 1024

/** An entry of a replay. One that several entries were merged into has the place of the last, and names that of the first. */
export type Replayed = Entry & { readonly first?: EntryPlace }

interface EntryPlace {
  readonly seq: number
  readonly at: number
}

export function firstOf({ first, seq, at }: Replayed): EntryPlace {
  return first ?? { seq, at }
}

type TextChunk = Entry & {
  readonly kind: 'message_chunk'
  readonly role: 'agent' | 'thought'
  readonly content: TextContent
}

type Announced = Entry & { readonly kind: 'tool_call' }
type Patched = Entry & { readonly kind: 'tool_call_patched' }
type Held = TextChunk | Announced | Patched

/**
 * Holds back at most one entry, to see whether the next one continues it. A merged entry has the `seq` of its last part, and no
 * other visible entry lies between its parts: a client that resumes from there misses nothing and gets nothing twice.
 */
export class ReplayCoalescer {
  #held: Held | undefined
  /** Where the held entry began, once another one has continued it. */
  #first: EntryPlace | undefined
  /** The whole text of a held chunk. Most entries of a replay are chunks, so one is only made when it is passed on. */
  #text = ''
  /** Entries after it that no update shows: permissions, checkpoints. They stand in the middle of most tool calls. */
  #behind: Entry[] = []

  push(entries: readonly Entry[]): readonly Replayed[] {
    const passed: Replayed[] = []
    for (const entry of entries) this.#take(entry, passed)
    return passed
  }

  /** The entries that are still held back; call it at the end of the replay. */
  flush(): readonly Replayed[] {
    const passed: Replayed[] = []
    this.#passHeld(passed)
    return passed
  }

  #take(entry: Entry, passed: Replayed[]): void {
    const held = this.#held
    if (held !== undefined && this.#continues(held, entry)) {
      this.#passBehind(passed)
    } else if (held !== undefined && isOfCall(held) && isInvisible(entry)) {
      this.#behind.push(entry)
    } else {
      this.#passHeld(passed)
      if (isTextChunk(entry)) this.#hold(entry, entry.content.text)
      else if (isOfCall(entry)) this.#hold(entry, '')
      else passed.push(entry)
    }
  }

  /** Takes in an entry that continues the held one; false when it does not. */
  #continues(held: Held, entry: Entry): boolean {
    if (held.kind === 'message_chunk') {
      if (!isTextChunk(entry)) return false
      if (entry.messageId !== held.messageId || this.#text.length >= MAX_CHUNK_CHARS) return false
      this.#text += entry.content.text
      this.#held = entry
    } else {
      if (entry.kind !== 'tool_call_patched' || entry.toolCallId !== held.toolCallId) return false
      this.#held = patched(held, entry)
    }
    this.#first ??= { seq: held.seq, at: held.at }
    return true
  }

  #hold(entry: Held, text: string): void {
    this.#held = entry
    this.#text = text
  }

  #passHeld(passed: Replayed[]): void {
    const [held, first] = [this.#held, this.#first]
    if (held === undefined) return
    this.#held = undefined
    this.#first = undefined
    if (first === undefined) passed.push(held)
    else if (held.kind !== 'message_chunk') passed.push({ first, ...held })
    else passed.push({ first, ...held, content: { type: 'text', text: this.#text } })
    this.#passBehind(passed)
  }

  #passBehind(passed: Replayed[]): void {
    if (this.#behind.length > 0) passed.push(...this.#behind.splice(0))
  }
}

/** The call as it is after `patch`, in its place. */
function patched(held: Announced | Patched, { seq, at, patch }: Patched): Announced | Patched {
  return held.kind === 'tool_call'
    ? { ...held, seq, at, call: { ...held.call, ...patch } }
    : { ...held, seq, at, patch: { ...held.patch, ...patch } }
}

function isOfCall(entry: Entry): entry is Announced | Patched {
  return entry.kind === 'tool_call' || entry.kind === 'tool_call_patched'
}

const INVISIBLE: ReadonlySet<Entry['kind']> = new Set([
  'permission_requested',
  'permission_resolved',
  'permission_revoked',
  'tool_input_requested',
  'tool_input_resolved',
  'agent_checkpoint',
])

function isInvisible({ kind }: Entry): boolean {
  return INVISIBLE.has(kind)
}

/** Only plain text is merged: annotations and `meta` belong to the block that carried them. */
function isTextChunk(entry: Entry): entry is TextChunk {
  if (entry.kind !== 'message_chunk' || entry.role === 'user') return false
  const { content } = entry
  return content.type === 'text' && content.annotations === undefined && content.meta === undefined
}
