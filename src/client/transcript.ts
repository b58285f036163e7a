/** What a face shows of a session, made of its updates. Pure: the same updates make the same transcript. */
import type { Command, Content, PlanEntry, ToolCallUpdate, Update } from './updates.ts'

export interface Transcript {
  /** Messages, tool calls, and what we have no word for, in the order in which they began. */
  readonly items: readonly Item[]
  readonly plan: readonly PlanEntry[]
  readonly commands: readonly Command[]
  readonly title: string | null
}

export type Item = MessageItem | ToolCallItem | { readonly kind: 'other'; readonly update: Update }

export interface MessageItem {
  readonly kind: 'message'
  readonly role: Role
  readonly messageId: string | null
  readonly content: readonly Content[]
}

export interface ToolCallItem {
  readonly kind: 'tool_call'
  readonly call: ToolCallUpdate
}

export type Role = 'user' | 'agent' | 'thought'

export const emptyTranscript: Transcript = { items: [], plan: [], commands: [], title: null }

/** The transcript after these updates; the one before is left as it was. */
export function told(before: Transcript, updates: readonly Update[]): Transcript {
  const draft: Draft = { ...before, items: [...before.items] }
  for (const update of updates) take(draft, update)
  return draft
}

/** As it stands once its turn was asked to end: what is open counts as cancelled until the agent has said how it ended. */
export function cancelled(before: Transcript): Transcript {
  return { ...before, items: before.items.map((item) => (isOpenCall(item) ? withStatus(item, 'cancelled') : item)) }
}

/** The role that a chunk speaks in; undefined for updates that are no chunks. */
export function roleOf({ sessionUpdate }: Update): Role | undefined {
  return Object.hasOwn(ROLE_OF, sessionUpdate) ? ROLE_OF[sessionUpdate] : undefined
}

const ROLE_OF: Readonly<Record<string, Role>> = {
  user_message_chunk: 'user',
  agent_message_chunk: 'agent',
  agent_thought_chunk: 'thought',
}

interface Draft {
  readonly items: Item[]
  plan: readonly PlanEntry[]
  commands: readonly Command[]
  title: string | null
}

function take(draft: Draft, update: Update): void {
  const role = roleOf(update)
  if (role !== undefined) return takeChunk(draft.items, role, update)
  switch (update.sessionUpdate) {
    case 'tool_call':
    case 'tool_call_update':
      return takeToolCall(draft.items, update)
    case 'plan':
      draft.plan = listOf(update['entries']) as readonly PlanEntry[]
      return
    case 'available_commands_update':
      draft.commands = listOf(update['availableCommands']) as readonly Command[]
      return
    case 'session_info_update':
      if ('title' in update) draft.title = textOf(update['title'])
      return
    default:
      draft.items.push({ kind: 'other', update })
  }
}

/** A chunk belongs to the message of its id; without one, to the message that is being said. */
function takeChunk(items: Item[], role: Role, update: Update): void {
  const messageId = textOf(update['messageId'])
  const content = update['content'] as Content
  const index = items.findLastIndex((item) => isMessage(item) && item.role === role && item.messageId === messageId)
  const open = items[index]
  const continues = open?.kind === 'message' && (messageId !== null || index === items.length - 1)
  if (continues) items[index] = { ...open, content: withChunk(open.content, content) }
  else items.push({ kind: 'message', role, messageId, content: [content] })
}

/** Text goes on where text ended. */
function withChunk(before: readonly Content[], chunk: Content): readonly Content[] {
  const last = before.at(-1)
  if (last?.type !== 'text' || chunk.type !== 'text') return [...before, chunk]
  return [...before.slice(0, -1), { ...last, text: (last.text ?? '') + (chunk.text ?? '') }]
}

/** An upsert: what an update does not mention stays as it was. */
function takeToolCall(items: Item[], { sessionUpdate: _kind, ...call }: Update): void {
  const patch = call as unknown as ToolCallUpdate
  const index = items.findLastIndex((item) => item.kind === 'tool_call' && item.call.toolCallId === patch.toolCallId)
  const known = items[index]
  if (known?.kind === 'tool_call') items[index] = { kind: 'tool_call', call: { ...known.call, ...patch } }
  else items.push({ kind: 'tool_call', call: patch })
}

function isOpenCall(item: Item): item is ToolCallItem {
  return item.kind === 'tool_call' && item.call.status !== 'completed' && item.call.status !== 'failed'
}

function withStatus({ call }: ToolCallItem, status: string): ToolCallItem {
  return { kind: 'tool_call', call: { ...call, status } }
}

function isMessage(item: Item): item is MessageItem {
  return item.kind === 'message'
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as readonly unknown[]) : []
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}
