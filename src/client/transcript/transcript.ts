/**
 * The transcript of a session as a program shows it, made of its updates. Pure: the same updates make the same transcript, and
 * an item that did not change is the same object in the next transcript, so that a page renders only what changed.
 */
import { fieldsOf } from '../../rpc/json-rpc.ts'
import type { PermissionQuestion } from '../incoming/permission-requests.ts'
import type { Command, Content, PlanEntry, ToolCallUpdate, Update, UpdateParams } from '../incoming/updates.ts'
import {
  type CallPermission,
  type Item,
  NOWHERE,
  type ItemPlace,
  type Resolved,
  type MessageRole,
  type ToolCallItem,
  callKey,
  isOpenCall,
  messageKey,
  placeOf,
  roleOf,
  mergedItem,
  withChunk,
  withPatch,
} from './items.ts'

export interface Transcript {
  /** Messages, tool calls, ends of stopped turns, and updates of unknown kinds, in the order in which they began. */
  readonly items: readonly Item[]
  readonly plan: readonly PlanEntry[]
  readonly commands: readonly Command[]
  readonly title: string | null
}

/** What a client gets of a session that belongs into its transcript. */
export type TranscriptEvent =
  | { readonly kind: 'update'; readonly params: Pick<UpdateParams, 'update' | '_meta'> }
  /** The server asks this client; only a Parley server gives the request an id. */
  | { readonly kind: 'asked'; readonly question: AskedPermission }
  | { readonly kind: 'resolved'; readonly resolved: Resolved }

export type AskedPermission = Pick<PermissionQuestion, 'requestId' | 'turn' | 'toolCall' | 'options'>

/** A part of the session, as the server sends it for `_parley/page`. */
export interface Page {
  readonly updates: readonly Pick<UpdateParams, 'update' | '_meta'>[]
  readonly resolved: readonly Resolved[]
}

export const emptyTranscript: Transcript = { items: [], plan: [], commands: [], title: null }

/** The transcript after these updates; `before` stays as it was. */
export function withUpdates(before: Transcript, updates: readonly Update[]): Transcript {
  const growing = new GrowingTranscript(before)
  for (const update of updates) growing.take(update)
  return growing
}

/** As `withUpdates`, with the places of the updates and with permission requests. */
export function withNews(before: Transcript, news: readonly TranscriptEvent[]): Transcript {
  const growing = new GrowingTranscript(before)
  for (const one of news) {
    if (one.kind === 'update') growing.take(one.params.update, placeOf(one.params))
    else if (one.kind === 'asked') growing.asked(one.question)
    else growing.resolved(one.resolved)
  }
  return growing
}

/**
 * The transcript with a page of what came before it. An item that goes over the edge is one item, where it began. Plan, commands
 * and title stay as they are, unless there are none yet.
 */
export function withOlder(before: Transcript, { updates, resolved }: Page): Transcript {
  const news = updates.map((params) => ({ kind: 'update', params }) as const)
  const older = withNews(emptyTranscript, [
    ...news,
    ...resolved.map((one) => ({ kind: 'resolved', resolved: one }) as const),
  ])
  const edge = new Edge(before.items)
  // The newest call of an id is the one that continues.
  const began = older.items.toReversed().map((item) => edge.joined(item))
  return {
    items: [...began.toReversed(), ...edge.rest],
    plan: before.plan.length === 0 ? older.plan : before.plan,
    commands: before.commands.length === 0 ? older.commands : before.commands,
    title: before.title ?? older.title,
  }
}

/** Where a page meets what is here already. */
class Edge {
  readonly #items: readonly Item[]
  readonly #byId: ReadonlyMap<string, Item>
  /** Calls whose turn is not known, by the agent's id of the call. */
  readonly #calls = new Map<string, ToolCallItem>()
  readonly #joined = new Set<Item>()

  constructor(items: readonly Item[]) {
    this.#items = items
    this.#byId = new Map(items.map((item) => [item.id, item]))
    for (const item of items.toReversed())
      if (item.kind === 'tool_call' && item.turn === undefined) this.#calls.set(item.call.toolCallId, item)
  }

  /** The items of the newer part that were not joined with one of the older page. */
  get rest(): readonly Item[] {
    return this.#items.filter((item) => !this.#joined.has(item))
  }

  /** The item together with its rest on the other side of the edge, if it has one. */
  joined(item: Item): Item {
    const rest = this.#byId.get(item.id) ?? this.#restOfCall(item)
    if (rest === undefined || this.#joined.has(rest)) return item
    this.#joined.add(rest)
    return mergedItem(item, rest)
  }

  /** For a server that names no turns: a call continues if it was open, or if only updates of it have come since. */
  #restOfCall(item: Item): Item | undefined {
    if (item.kind !== 'tool_call') return undefined
    const rest = this.#calls.get(item.call.toolCallId)
    return rest !== undefined && (isOpenCall(item) || rest.call.title === undefined) ? rest : undefined
  }
}

/**
 * The transcript with about `keep` of its newest items, for a client that loads the others again when they are wanted: all
 * entries before its first item are in none of its items. Items without places are kept.
 */
export function withoutOldest(before: Transcript, keep: number): Transcript {
  const cut = cutBefore(before.items, before.items.length - keep)
  return cut === 0 ? before : { ...before, items: before.items.slice(cut) }
}

/** The last place up to `most` at which no item goes over the edge. */
function cutBefore(items: readonly Item[], most: number): number {
  const begins: number[] = []
  let least = Number.POSITIVE_INFINITY
  for (let index = items.length - 1; index >= 0; index -= 1) {
    least = Math.min(least, items[index]?.seq?.first ?? Number.NEGATIVE_INFINITY)
    begins[index] = least
  }
  let cut = 0
  let last = 0
  for (let index = 0; index < most; index += 1) {
    last = Math.max(last, items[index]?.seq?.last ?? Number.POSITIVE_INFINITY)
    if (last < (begins[index + 1] ?? 0)) cut = index + 1
  }
  return cut
}

/** The transcript once its turn was cancelled: open tool calls count as cancelled until the agent reports how they ended. */
export function cancelled(before: Transcript): Transcript {
  const growing = new GrowingTranscript(before)
  growing.cancel()
  return growing
}

/** Indexes in `items`. */
interface Index {
  /** Of the newest message of a role and an id. */
  readonly messages: Map<string, number>
  /** Of the newest tool call of an id. */
  readonly calls: Map<string, number>
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
  #known: Index | undefined

  constructor(before: Transcript = emptyTranscript) {
    this.items = [...before.items]
    this.plan = before.plan
    this.commands = before.commands
    this.title = before.title
    // The index of a long transcript is not made again for each batch of updates: it moves to the transcript that continues.
    if (before instanceof GrowingTranscript) {
      this.#known = before.#known
      before.#known = undefined
    }
  }

  /** The tool call of this id as it is now. */
  call(toolCallId: string): ToolCallUpdate | undefined {
    return this.#callItem(toolCallId)?.item.call
  }

  /** The latest permission that this call needed. */
  permission(toolCallId: string): CallPermission | undefined {
    return this.#callItem(toolCallId)?.item.permission
  }

  /** The turn was cancelled: open tool calls count as cancelled. */
  cancel(): void {
    for (const [index, item] of this.items.entries())
      if (isOpenCall(item)) this.items[index] = { ...item, call: { ...item.call, status: 'cancelled' } }
  }

  take(update: Update, place: ItemPlace = NOWHERE): void {
    const role = roleOf(update)
    if (role !== undefined) return this.#takeChunk(role, update, place)
    switch (update.sessionUpdate) {
      case 'tool_call':
      case 'tool_call_update':
        return this.#takeToolCall(update, place)
      case 'plan':
        this.plan = listOf(update['entries']) as readonly PlanEntry[]
        return
      case 'available_commands_update':
        this.commands = listOf(update['availableCommands']) as readonly Command[]
        return
      case 'session_info_update':
        if ('title' in update) this.title = textOrNull(update['title'])
        return this.#takeEnd(fieldsOf(update['_meta'])['parley/end'], place)
      default:
        this.#push({ kind: 'other', id: this.#newId(place), update, ...placed(place) })
    }
  }

  /** A permission request that waits. It shows the call, also to a client that has not seen it. */
  asked({ requestId = '', turn, toolCall, options }: AskedPermission): void {
    const isKnown = this.#callItem(toolCall.toolCallId) !== undefined
    if (!isKnown)
      this.#takeToolCall({ sessionUpdate: 'tool_call', ...toolCall }, turn === undefined ? NOWHERE : { turn })
    this.#permit(toolCall.toolCallId, () => ({ requestId, options }))
  }

  /** A permission request has ended; one of a call that is not here is of no interest here. */
  resolved({ requestId, toolCallId, ...resolved }: Resolved): void {
    this.#permit(toolCallId, (open) => ({ ...(open?.requestId === requestId && open), requestId, resolved }))
  }

  #permit(toolCallId: string, change: (open: CallPermission | undefined) => CallPermission): void {
    const known = this.#callItem(toolCallId)
    if (known === undefined) return
    this.items[known.index] = { ...known.item, permission: change(known.item.permission) }
  }

  /** A chunk belongs to the message of its id; without an id, to the last message. */
  #takeChunk(role: MessageRole, update: Update, place: ItemPlace): void {
    const messageId = textOrNull(update['messageId'])
    const content = update['content'] as Content
    const key = messageId === null ? undefined : messageKey(role, messageId)
    const index = key === undefined ? this.items.length - 1 : (this.#index.messages.get(key) ?? -1)
    const open = this.items[index]
    const continues = open?.kind === 'message' && open.role === role && open.messageId === messageId
    if (continues) this.items[index] = withChunk(open, content, place)
    else {
      const by = place.by === undefined ? {} : { by: place.by }
      const id = key ?? this.#newId(place)
      this.#push({ kind: 'message', id, role, messageId, content: [content], ...by, ...placed(place) })
    }
  }

  /** An upsert. An id that an agent uses again in another turn is another call. */
  #takeToolCall({ sessionUpdate: kind, ...call }: Update, place: ItemPlace): void {
    const patch = call as unknown as ToolCallUpdate
    const known = this.#callItem(patch.toolCallId)
    const isAnother = kind === 'tool_call' && known?.item.turn !== undefined && known.item.turn !== place.turn
    if (known !== undefined && !isAnother) this.items[known.index] = withPatch(known.item, patch, place)
    else this.#push({ kind: 'tool_call', id: callKey(patch.toolCallId, place.turn), call: patch, ...placed(place) })
  }

  #takeEnd(said: unknown, place: ItemPlace): void {
    const { stopReason, by } = fieldsOf(said)
    if (typeof stopReason !== 'string') return
    const who = typeof by === 'string' ? { by } : {}
    this.#push({ kind: 'end', id: `end ${place.turn ?? this.#newId(place)}`, stopReason, ...who, ...placed(place) })
  }

  #callItem(toolCallId: string): { readonly index: number; readonly item: ToolCallItem } | undefined {
    const index = this.#index.calls.get(toolCallId) ?? -1
    const item = this.items[index]
    return item?.kind === 'tool_call' ? { index, item } : undefined
  }

  #push(item: Item): void {
    this.items.push(item)
    note(item, this.items.length - 1, this.#index)
  }

  get #index(): Index {
    this.#known ??= indexOf(this.items)
    return this.#known
  }

  #newId({ seq }: ItemPlace): string {
    return seq === undefined ? `item ${this.items.length}` : `entry ${seq.first}`
  }
}

function indexOf(items: readonly Item[]): Index {
  const index: Index = { messages: new Map(), calls: new Map() }
  for (const [at, item] of items.entries()) note(item, at, index)
  return index
}

function note(item: Item, at: number, { messages, calls }: Index): void {
  if (item.kind === 'tool_call') calls.set(item.call.toolCallId, at)
  else if (item.kind === 'message' && item.messageId !== null) messages.set(messageKey(item.role, item.messageId), at)
}

function placed({ seq, at, turn }: ItemPlace) {
  return { ...(seq && { seq }), ...(at && { at }), ...(turn !== undefined && { turn }) }
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as readonly unknown[]) : []
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}
