/** What a face shows of a session, made of its updates. Pure: the same updates make the same transcript. */
import type { Command, Content, PlanEntry, ToolCallUpdate, Update } from '../incoming/updates.ts'

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
  const growing = new GrowingTranscript(before)
  for (const update of updates) growing.take(update)
  return growing
}

/** As it stands once its turn was asked to end: what is open counts as cancelled until the agent has said how it ended. */
export function cancelled(before: Transcript): Transcript {
  const growing = new GrowingTranscript(before)
  growing.cancel()
  return growing
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

/**
 * A transcript that each update changes in place, at a cost that does not depend on how much was said before. It leaves the one
 * that it began with as it was.
 */
export class GrowingTranscript implements Transcript {
  readonly items: Item[]
  plan: readonly PlanEntry[]
  commands: readonly Command[]
  title: string | null
  /** Where in `items` the newest message of a role and an id is, and the newest tool call of an id. */
  readonly #messages = new Map<string, number>()
  readonly #calls = new Map<string, number>()
  /** What messages consist of that have been made here, and may grow: by their place in `items`. */
  readonly #contents = new Map<number, Content[]>()

  constructor(before: Transcript = emptyTranscript) {
    this.items = [...before.items]
    this.plan = before.plan
    this.commands = before.commands
    this.title = before.title
    for (const [index, item] of this.items.entries()) this.#note(item, index)
  }

  /** The tool call of this id, as it stands. */
  call(toolCallId: string): ToolCallUpdate | undefined {
    const item = this.items[this.#calls.get(toolCallId) ?? -1]
    return item?.kind === 'tool_call' ? item.call : undefined
  }

  /** The turn was asked to end: what is open counts as cancelled. */
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

  /** A chunk belongs to the message of its id; without one, to the message that is being said. */
  #takeChunk(role: Role, update: Update): void {
    const messageId = textOf(update['messageId'])
    const content = update['content'] as Content
    const index = messageId === null ? this.items.length - 1 : (this.#messages.get(keyOf(role, messageId)) ?? -1)
    const open = this.items[index]
    const continues = open?.kind === 'message' && open.role === role && open.messageId === messageId
    if (continues) addChunk(this.#contentOf(open, index), content)
    else this.#push({ kind: 'message', role, messageId, content: [content] })
  }

  /** An upsert: what an update does not mention stays as it was. */
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

  /** That of a message from before is copied once: whoever has the transcript that this one began with keeps it as it was. */
  #contentOf(message: MessageItem, index: number): Content[] {
    const own = this.#contents.get(index)
    if (own !== undefined) return own
    const content = [...message.content]
    this.#contents.set(index, content)
    this.items[index] = { ...message, content }
    return content
  }
}

/** Text goes on where text ended. */
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
