/**
 * Shortens a replayed conversation: adjacent chunks of one message become one entry, and so do a tool call and the patches that
 * follow it. Live entries are never merged.
 */
import type { TextContent, ToolCallPatch } from '../../ports/values/content.ts'
import type { Entry } from '../domain/entries.ts'

/** A merged chunk is passed on at this length, so that a long message still arrives in pieces. */
const MAX_CHUNK_CHARS = 64 * 1024

/** An entry of a replay. One that several entries were merged into has the place of the last, and names that of the first. */
export type Replayed = Entry & { readonly first?: Place }

interface Place {
  readonly seq: number
  readonly at: number
}

export function firstOf({ first, seq, at }: Replayed): Place {
  return first ?? { seq, at }
}

type TextChunk = Replayed & {
  readonly kind: 'message_chunk'
  readonly role: 'agent' | 'thought'
  readonly content: TextContent
}

type Announced = Replayed & { readonly kind: 'tool_call' }
type Patched = Replayed & { readonly kind: 'tool_call_patched' }
type Held = TextChunk | Announced | Patched

/**
 * Holds back at most one entry, to see whether the next one continues it. A merged entry has the `seq` of its last part, and no
 * other visible entry lies between its parts: a client that resumes from there misses nothing and gets nothing twice.
 */
export class ReplayCoalescer {
  #held: Held | undefined
  /** Entries after it that no update shows: permissions, checkpoints. They stand in the middle of most tool calls. */
  #behind: Replayed[] = []

  push(entries: readonly Entry[]): readonly Replayed[] {
    const passed: Replayed[] = []
    for (const entry of entries) this.#take(entry, passed)
    return passed
  }

  /** The entries that are still held back; call it at the end of the replay. */
  flush(): readonly Replayed[] {
    const held = this.#held === undefined ? [] : [this.#held]
    this.#held = undefined
    return [...held, ...this.#takeBehind()]
  }

  #take(entry: Entry, passed: Replayed[]): void {
    const held = this.#held
    const whole = held === undefined ? undefined : merged(held, entry)
    if (whole !== undefined) {
      passed.push(...this.#takeBehind())
      this.#held = whole
    } else if (held !== undefined && isOfCall(held) && isInvisible(entry)) {
      this.#behind.push(entry)
    } else {
      passed.push(...this.flush())
      if (isTextChunk(entry) || isOfCall(entry)) this.#held = entry
      else passed.push(entry)
    }
  }

  #takeBehind(): readonly Replayed[] {
    return this.#behind.splice(0)
  }
}

/** Undefined when `entry` does not continue `held`. */
function merged(held: Held, entry: Entry): Held | undefined {
  if (held.kind === 'message_chunk') return isTextChunk(entry) ? joined(held, entry) : undefined
  if (entry.kind !== 'tool_call_patched' || entry.toolCallId !== held.toolCallId) return undefined
  const position = { seq: entry.seq, at: entry.at, first: firstOf(held) }
  return held.kind === 'tool_call'
    ? { ...held, ...position, call: patched(held.call, entry.patch) }
    : { ...held, ...position, patch: patched(held.patch, entry.patch) }
}

function joined(held: TextChunk, chunk: TextChunk): TextChunk | undefined {
  const continues = chunk.messageId === held.messageId && held.content.text.length < MAX_CHUNK_CHARS
  if (!continues) return undefined
  return { ...chunk, first: firstOf(held), content: { type: 'text', text: held.content.text + chunk.content.text } }
}

function patched<Call extends ToolCallPatch>(call: Call, patch: ToolCallPatch): Call {
  return { ...call, ...patch }
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
