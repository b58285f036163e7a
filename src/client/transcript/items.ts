/** The items of a transcript: messages, tool calls, ends of stopped turns, and updates of unknown kinds, with their places in the conversation. */
import { fieldsOf } from '../../rpc/json-rpc.ts'
import type { Content, PermissionOption, ToolCallUpdate, Update, UpdateParams } from '../incoming/updates.ts'

export type Item = MessageItem | ToolCallItem | EndItem | OtherItem

/** An item is never changed: one that grows is replaced by another of the same id. */
interface Placed {
  /** Differs from all other items of the session, and stays the same whichever part of the session is loaded. */
  readonly id: string
  /** The first and the last entry of the journal that it is made of. Agents that are no Parley server name none. */
  readonly seq?: Range
  /** When these entries were stored; milliseconds since 1970. */
  readonly at?: Range
  readonly turn?: string
}

export interface Range {
  readonly first: number
  readonly last: number
}

export interface MessageItem extends Placed {
  readonly kind: 'message'
  readonly role: MessageRole
  readonly messageId: string | null
  readonly content: readonly Content[]
  /** Who sent it, for a message of a user. */
  readonly by?: string
}

export interface ToolCallItem extends Placed {
  readonly kind: 'tool_call'
  readonly call: ToolCallUpdate
  /** The latest permission that it needed. */
  readonly permission?: CallPermission
}

/** The end of a turn that was stopped. A Parley server sends it to clients that asked for `parley/places`. */
export interface EndItem extends Placed {
  readonly kind: 'end'
  /** As in the response to the prompt, such as `cancelled` or `max_tokens`. */
  readonly stopReason: string
  /** The client that has stopped it. */
  readonly by?: string
}

export interface OtherItem extends Placed {
  readonly kind: 'other'
  readonly update: Update
}

export interface CallPermission {
  readonly requestId: string
  /** What was offered; absent where only the answer is known. */
  readonly options?: readonly PermissionOption[]
  /** Absent while it waits for an answer. */
  readonly resolved?: Resolution
}

/** How a permission request ended. */
export interface Resolution {
  readonly outcome: { readonly outcome: string; readonly optionId?: string; readonly kind?: string }
  /** The client that answered. */
  readonly by?: string
  /** Milliseconds since 1970. */
  readonly at?: number
}

/** An answer as the server reports it: live, in a replay, and with a page. */
export interface Resolved extends Resolution {
  readonly requestId: string
  readonly toolCallId: string
}

export type MessageRole = 'user' | 'agent' | 'thought'

/** Where an update stands: what its `_meta` says about it. */
export interface ItemPlace {
  readonly seq?: Range
  readonly at?: Range
  readonly turn?: string
  readonly by?: string
}

export const NOWHERE: ItemPlace = {}

/** Parts that are missing or of the wrong type are left out. */
export function placeOf({ _meta }: Pick<UpdateParams, '_meta'>): ItemPlace {
  const meta = fieldsOf(_meta)
  // A replay sends several entries as one update; that names the first of them.
  const first = fieldsOf(meta['parley/first'])
  const [turn, by] = [meta['parley/turn'], meta['parley/by']]
  return {
    ...rangeIn('seq', first['seq'], meta['parley/seq']),
    ...rangeIn('at', first['at'], meta['parley/at']),
    ...(typeof turn === 'string' && { turn }),
    ...(typeof by === 'string' && { by }),
  }
}

function rangeIn(name: 'seq' | 'at', first: unknown, last: unknown): ItemPlace {
  return typeof last === 'number' ? { [name]: { first: typeof first === 'number' ? first : last, last } } : NOWHERE
}

/** The role of a message chunk; undefined for updates that are no message chunks. */
export function roleOf({ sessionUpdate }: Update): MessageRole | undefined {
  return Object.hasOwn(ROLE_OF, sessionUpdate) ? ROLE_OF[sessionUpdate] : undefined
}

const ROLE_OF: Readonly<Record<string, MessageRole>> = {
  user_message_chunk: 'user',
  agent_message_chunk: 'agent',
  agent_thought_chunk: 'thought',
}

export function messageKey(role: MessageRole, messageId: string): string {
  return `${role} ${messageId}`
}

/** Agents may use the id of a call again in another turn. */
export function callKey(toolCallId: string, turn: string | undefined): string {
  return `call ${turn === undefined ? '' : `${turn} `}${toolCallId}`
}

export function isOpenCall(item: Item): item is ToolCallItem {
  return item.kind === 'tool_call' && item.call.status !== 'completed' && item.call.status !== 'failed'
}

/** The message with one more chunk. A text is appended to a text before it. */
export function withChunk(message: MessageItem, chunk: Content, place: ItemPlace): MessageItem {
  return { ...message, content: joined(message.content, [chunk]), ...reaching(message, place) }
}

/** The call after an update of it: members that the update does not mention stay as they were. */
export function withPatch(item: ToolCallItem, patch: ToolCallUpdate, place: ItemPlace): ToolCallItem {
  return { ...item, call: { ...item.call, ...patch }, ...reaching(item, place) }
}

/** One item of two parts: `older` was loaded later, with a page of what came before. */
export function mergedItem(older: Item, newer: Item): Item {
  const place = reaching(older, newer)
  if (older.kind === 'message' && newer.kind === 'message')
    return { ...newer, ...older, content: joined(older.content, newer.content), ...place }
  if (older.kind === 'tool_call' && newer.kind === 'tool_call')
    return { ...older, ...newer, id: older.id, call: { ...older.call, ...newer.call }, ...place }
  return newer
}

function reaching({ seq, at }: ItemPlace, newer: ItemPlace): ItemPlace {
  return {
    ...(newer.seq && { seq: { first: seq?.first ?? newer.seq.first, last: newer.seq.last } }),
    ...(newer.at && { at: { first: at?.first ?? newer.at.first, last: newer.at.last } }),
  }
}

function joined(before: readonly Content[], [chunk, ...rest]: readonly Content[]): readonly Content[] {
  const last = before.at(-1)
  if (chunk === undefined) return before
  if (last?.type !== 'text' || chunk.type !== 'text') return [...before, chunk, ...rest]
  return [...before.slice(0, -1), { ...last, text: (last.text ?? '') + (chunk.text ?? '') }, ...rest]
}
