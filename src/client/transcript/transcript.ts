/** The transcript of a session as a program shows it, made of its updates. Pure: the same updates make the same transcript. */
import type { Command, Content, PlanEntry, ToolCallUpdate, Update } from '../incoming/updates.ts'

export interface Transcript {
  /** Messages, tool calls, and updates of unknown kinds, in the order in which they began. */
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

/** The transcript after these updates; `before` stays as it was. */
export function withUpdates(before: Transcript, updates: readonly Update[]): Transcript {
  const growing = new GrowingTranscript(before)
  for (const update of updates) growing.take(update)
  return growing
}

/** The transcript once its turn was cancelled: open tool calls count as cancelled until the agent reports how they ended. */
export function cancelled(before: Transcript): Transcript {
  const growing = new GrowingTranscript(before)
  growing.cancel()
  return growing
}

/** The role of a message chunk; undefined for updates that are no message chunks. */
export function roleOf({ sessionUpdate }: Update): Role | undefined {
  return Object.hasOwn(ROLE_OF, sessionUpdate) ? ROLE_OF[sessionUpdate] : undefined
}

const ROLE_OF: Readonly<Record<string, Role>> = {
  user_message_chunk: 'user',
  agent_message_chunk: 'agent',
  agent_thought_chunk: 'thought',
}

/**
 * A transcript that each update changes in place, at a cost that does not depend on its length. The transcript that it began with
 * stays as it was.
 */
export class GrowingTranscript implements Transcript {
  readonly items: Item[]
  plan: readonly PlanEntry[]
  commands: readonly Command[]
  title: string | null
  /** Indexes in `items`: of the newest message of a role and an id, and of the newest tool call of an id. */
  readonly #messages = new Map<string, number>()
  readonly #calls = new Map<string, number>()
  /** The content of messages that may grow in place, by their index in `items`. */
  readonly #contents = new Map<number, Content[]>()

  constructor(before: Transcript = emptyTranscript) {
    this.items = [...before.items]
    this.plan = before.plan
    this.commands = before.commands
    this.title = before.title
    for (const [index, item] of this.items.entries()) this.#note(item, index)
  }

  /** The tool call of this id as it is now. */
  call(toolCallId: string): ToolCallUpdate | undefined {
    const item = this.items[this.#calls.get(toolCallId) ?? -1]
    return item?.kind === 'tool_call' ? item.call : undefined
  }

  /** The turn was cancelled: open tool calls count as cancelled. */
  cancel(): void {
    for (const [index, item] of this.items.entries())
      if (isOpenCall(item)) this.items[index] = withStatus(item, 'cancelled')
  }

  take(update: Update): void {
    const role = roleOf(update)
    if (role !== undefined) return this.#takeChunk(role, update)
    switch (update.sessionUpdate) {
      case 'tool_call':
      case 'tool_call_update':
        return this.#takeToolCall(update)
      case 'plan':
        this.plan = listOf(update['entries']) as readonly PlanEntry[]
        return
      case 'available_commands_update':
        this.commands = listOf(update['availableCommands']) as readonly Command[]
        return
      case 'session_info_update':
        if ('title' in update) this.title = textOf(update['title'])
        return
      default:
        this.items.push({ kind: 'other', update })
    }
  }

  /** A chunk belongs to the message of its id; without an id, to the last message. */
  #takeChunk(role: Role, update: Update): void {
    const messageId = textOf(update['messageId'])
    const content = update['content'] as Content
    const index = messageId === null ? this.items.length - 1 : (this.#messages.get(keyOf(role, messageId)) ?? -1)
    const open = this.items[index]
    const continues = open?.kind === 'message' && open.role === role && open.messageId === messageId
    if (continues) addChunk(this.#contentOf(open, index), content)
    else this.#push({ kind: 'message', role, messageId, content: [content] })
  }

  /** An upsert: members that an update does not mention stay as they were. */
  #takeToolCall({ sessionUpdate: _kind, ...call }: Update): void {
    const patch = call as unknown as ToolCallUpdate
    const index = this.#calls.get(patch.toolCallId) ?? -1
    const known = this.items[index]
    if (known?.kind === 'tool_call') this.items[index] = { kind: 'tool_call', call: { ...known.call, ...patch } }
    else this.#push({ kind: 'tool_call', call: patch })
  }

  #push(item: Item): void {
    this.items.push(item)
    this.#note(item, this.items.length - 1)
  }

  #note(item: Item, index: number): void {
    if (item.kind === 'tool_call') this.#calls.set(item.call.toolCallId, index)
    else if (item.kind === 'message' && item.messageId !== null)
      this.#messages.set(keyOf(item.role, item.messageId), index)
  }

  /** The content of a message of the first transcript is copied once, so that that transcript stays as it was. */
  #contentOf(message: MessageItem, index: number): Content[] {
    const own = this.#contents.get(index)
    if (own !== undefined) return own
    const content = [...message.content]
    this.#contents.set(index, content)
    this.items[index] = { ...message, content }
    return content
  }
}

/** A text is appended to a text before it. */
function addChunk(content: Content[], chunk: Content): void {
  const last = content.at(-1)
  if (last?.type !== 'text' || chunk.type !== 'text') content.push(chunk)
  else content[content.length - 1] = { ...last, text: (last.text ?? '') + (chunk.text ?? '') }
}

function keyOf(role: Role, messageId: string): string {
  return `${role} ${messageId}`
}

function isOpenCall(item: Item): item is ToolCallItem {
  return item.kind === 'tool_call' && item.call.status !== 'completed' && item.call.status !== 'failed'
}

function withStatus({ call }: ToolCallItem, status: string): ToolCallItem {
  return { kind: 'tool_call', call: { ...call, status } }
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as readonly unknown[]) : []
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}
