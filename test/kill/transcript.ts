/** Puts what a client was shown into a form that can be compared: chunks of one message joined, all else one by one. */
import { type SeenUpdate, textOf } from '../e2e/message.ts'

export interface TextPart {
  readonly kind: 'text'
  readonly messageId: string
  readonly role: string
  readonly text: string
  /** Where each chunk ended, and the `seq` it came with. */
  readonly marks: readonly Mark[]
}

export interface Mark {
  readonly end: number
  readonly seq: number
}

export interface OtherPart {
  readonly kind: 'other'
  readonly seq: number
  /** The update as JSON. */
  readonly json: string
}

export type Part = TextPart | OtherPart

/** Told as they stand by the end of a replay, not as they came. */
const STATE = new Set(['session_info_update', 'available_commands_update'])

/** What belongs to the conversation. Whoever prompts is not shown his own words, so these are looked at elsewhere. */
export function isSaid({ update }: SeenUpdate): boolean {
  return !STATE.has(update.sessionUpdate) && update.sessionUpdate !== 'user_message_chunk'
}

export function partsOf(updates: readonly SeenUpdate[]): readonly Part[] {
  const parts: Part[] = []
  for (const seen of updates.filter(isSaid)) {
    // What becomes of a call is looked at elsewhere; a load tells it where the call first appears.
    if (seen.update.sessionUpdate === 'tool_call_update') continue
    const part = partOf(seen)
    const last = parts.at(-1)
    if (part.kind === 'text' && last?.kind === 'text' && sameMessage(part, last))
      parts[parts.length - 1] = joined(last, part)
    else parts.push(part)
  }
  return parts
}

function partOf(seen: SeenUpdate): Part {
  const { seq, update } = seen
  const text = textOf(seen)
  if (update.sessionUpdate === 'tool_call')
    return { kind: 'other', seq: 0, json: `call ${String(update['toolCallId'])}` }
  if (text === '') return { kind: 'other', seq, json: JSON.stringify(update) }
  const { sessionUpdate: role } = update
  return { kind: 'text', role, messageId: String(update['messageId']), text, marks: [{ end: text.length, seq }] }
}

function sameMessage(one: TextPart, other: TextPart): boolean {
  return one.messageId === other.messageId && one.role === other.role
}

function joined(first: TextPart, { text, marks }: TextPart): TextPart {
  const from = first.text.length
  const shifted = marks.map(({ end, seq }) => ({ end: from + end, seq }))
  return { ...first, text: first.text + text, marks: [...first.marks, ...shifted] }
}

/** A few words of a part, for people. */
export function words(part: Part | undefined): string {
  if (part === undefined) return 'nothing'
  if (part.kind === 'other') return `seq ${part.seq} ${part.json.slice(0, 120)}`
  return `${part.role} ${part.messageId} (${part.text.length} characters, seq ${part.marks.at(-1)?.seq}) …${JSON.stringify(part.text.slice(-60))}`
}
