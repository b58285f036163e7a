/**
 * Tells an old conversation in fewer words: adjacent chunks of one message become one, and a tool call and the changes that follow
 * it become one. Never used on the live path.
 */
import type { TextContent, ToolCallPatch } from '../../ports/content.ts'
import type { Entry } from '../domain/entries.ts'

/** Characters after which a merged chunk is passed on, so that a long message still arrives in pieces. */
const LONGEST_CHUNK = 64 * 1024

type SpokenChunk = Entry & {
  readonly kind: 'message_chunk'
  readonly role: 'agent' | 'thought'
  readonly content: TextContent
}

type Announced = Entry & { readonly kind: 'tool_call' }
type Patched = Entry & { readonly kind: 'tool_call_patched' }
type Held = SpokenChunk | Announced | Patched

/**
 * Holds back at most one entry, to see whether the next one continues it. A merged entry has the `seq` of its last part, and
 * nothing else that is told lies between its parts: whoever goes on from there misses nothing and hears nothing twice.
 */
export class ReplayCoalescer {
  #held: Held | undefined
  /** What came after it and no update tells: questions, answers, steps of a model. They stand in the middle of most calls. */
  #behind: Entry[] = []

  push(entries: readonly Entry[]): readonly Entry[] {
    const told: Entry[] = []
    for (const entry of entries) this.#take(entry, told)
    return told
  }

  /** What is still held back, at the end. */
  flush(): readonly Entry[] {
    const held = this.#held === undefined ? [] : [this.#held]
    this.#held = undefined
    return [...held, ...this.#passed()]
  }

  #take(entry: Entry, told: Entry[]): void {
    const held = this.#held
    const whole = held === undefined ? undefined : merged(held, entry)
    if (whole !== undefined) {
      told.push(...this.#passed())
      this.#held = whole
    } else if (held !== undefined && isOfCall(held) && isUntold(entry)) {
      this.#behind.push(entry)
    } else {
      told.push(...this.flush())
      if (isSpoken(entry) || isOfCall(entry)) this.#held = entry
      else told.push(entry)
    }
  }

  #passed(): readonly Entry[] {
    return this.#behind.splice(0)
  }
}

/** Undefined when the one does not continue the other. */
function merged(held: Held, entry: Entry): Held | undefined {
  if (held.kind === 'message_chunk') return isSpoken(entry) ? joined(held, entry) : undefined
  if (entry.kind !== 'tool_call_patched' || entry.toolCallId !== held.toolCallId) return undefined
  const place = { seq: entry.seq, at: entry.at }
  return held.kind === 'tool_call'
    ? { ...held, ...place, call: patched(held.call, entry.patch) }
    : { ...held, ...place, patch: patched(held.patch, entry.patch) }
}

function joined(held: SpokenChunk, chunk: SpokenChunk): SpokenChunk | undefined {
  const goesOn = chunk.messageId === held.messageId && held.content.text.length < LONGEST_CHUNK
  return goesOn ? { ...chunk, content: { type: 'text', text: held.content.text + chunk.content.text } } : undefined
}

function patched<Call extends ToolCallPatch>(call: Call, patch: ToolCallPatch): Call {
  return { ...call, ...patch }
}

function isOfCall(entry: Entry): entry is Announced | Patched {
  return entry.kind === 'tool_call' || entry.kind === 'tool_call_patched'
}

const UNTOLD: ReadonlySet<Entry['kind']> = new Set([
  'permission_requested',
  'permission_resolved',
  'permission_revoked',
  'tool_input_requested',
  'tool_input_resolved',
  'agent_checkpoint',
])

function isUntold({ kind }: Entry): boolean {
  return UNTOLD.has(kind)
}

/** Only bare text merges: annotations and `meta` belong to the block that carried them. */
function isSpoken(entry: Entry): entry is SpokenChunk {
  if (entry.kind !== 'message_chunk' || entry.role === 'user') return false
  const { content } = entry
  return content.type === 'text' && content.annotations === undefined && content.meta === undefined
}
