/** What of a conversation stands in one row of the list: each of its items, or a run of finished steps as one line. Pure. */
import type { EndItem, Item, MessageItem, ToolCallItem } from '../../client/transcript/items.ts'

export type ThreadRow =
  | { readonly kind: 'prompt' | 'answer' | 'thought'; readonly key: string; readonly item: MessageItem }
  | { readonly kind: 'notice'; readonly key: string; readonly text: string }
  | CutRow
  | { readonly kind: 'end'; readonly key: string; readonly item: EndItem }
  | { readonly kind: 'call'; readonly key: string; readonly item: ToolCallItem }
  | { readonly kind: 'steps'; readonly key: string; readonly items: readonly Step[] }

export interface CutRow {
  readonly kind: 'cut' | 'failed'
  readonly key: string
  readonly text: string
  readonly at: number | undefined
}

export type Step = MessageItem | ToolCallItem

/** Fewer calls than this stand by themselves. */
const MIN_CALLS = 2

export class Rows {
  /** The first items of runs that are folded; they stay so, whatever comes. */
  readonly #folded = new Set<string>()
  readonly #known = new WeakMap<Item, ThreadRow | null>()
  /** Items that were there before. */
  readonly #seen = new Set<string>()
  /** The items as they were, for a list grows in place; their rows; and where each part of the rows ends in both. */
  #before: readonly Item[] = []
  #rows: readonly ThreadRow[] = []
  readonly #parts: { readonly end: number; readonly rows: number }[] = []
  #mayFold = false

  /** `mayFold`: folding would not move what is being read. `isWorking`: the last run is not finished. */
  of(items: readonly Item[], how: { readonly mayFold: boolean; readonly isWorking: boolean }): readonly ThreadRow[] {
    const same = how.mayFold === this.#mayFold ? firstDifference(items, this.#before) : 0
    this.#mayFold = how.mayFold
    // A run also ends by the item after it.
    while ((this.#parts.at(-1)?.end ?? -1) >= same) this.#parts.pop()
    const last = this.#parts.at(-1)
    const rows = this.#rows.slice(0, last?.rows ?? 0)
    for (let at = last?.end ?? 0; at < items.length;) {
      const end = this.#endOfRun(items, at)
      const run = items.slice(at, end) as readonly Step[]
      // What comes all at once, before anything is shown or beside what is read, moves nothing that is read.
      const mayFold = how.mayFold || run.every(({ id }) => !this.#seen.has(id))
      if (this.#isFolded(run, mayFold && (end < items.length || !how.isWorking)))
        rows.push({ kind: 'steps', key: `steps ${run[0]?.id}`, items: run })
      else this.#pushAll(rows, items.slice(at, Math.max(end, at + 1)))
      at = Math.max(end, at + 1)
      this.#parts.push({ end: at, rows: rows.length })
    }
    for (let at = same; at < items.length; at += 1) this.#seen.add(items[at]?.id ?? '')
    this.#before = [...items]
    this.#rows = rows
    return rows
  }

  /** Calls that ended well, and the thoughts between them. A run that is folded stays as it is when older ones come before it. */
  #endOfRun(items: readonly Item[], from: number): number {
    let end = from
    for (; end < items.length; end += 1) {
      const item = items[end]
      if (item === undefined || !isStep(item) || (end > from && this.#folded.has(item.id))) break
    }
    return end
  }

  #pushAll(rows: ThreadRow[], items: readonly Item[]): void {
    for (const item of items) {
      const known = this.#known.get(item)
      const row = known === undefined ? rowOf(item) : known
      if (known === undefined) this.#known.set(item, row)
      if (row !== null) rows.push(row)
    }
  }

  #isFolded(run: readonly Step[], mayFold: boolean): boolean {
    const [first] = run
    if (first === undefined || run.filter(({ kind }) => kind === 'tool_call').length < MIN_CALLS) return false
    if (mayFold) this.#folded.add(first.id)
    return this.#folded.has(first.id)
  }
}

/** In a conversation that grows, all but the last items are as they were, and so are their rows. */
function firstDifference(items: readonly Item[], before: readonly Item[]): number {
  const most = Math.min(items.length, before.length)
  for (let at = 0; at < most; at += 1) if (items[at] !== before[at]) return at
  return most
}

function isStep(item: Item): boolean {
  return item.kind === 'message'
    ? item.role === 'thought'
    : item.kind === 'tool_call' && item.call.status === 'completed'
}

const KIND_OF = { user: 'prompt', agent: 'answer', thought: 'thought' } as const

function rowOf(item: Item): ThreadRow | null {
  if (item.kind === 'tool_call') return { kind: 'call', key: item.id, item }
  if (item.kind === 'message') return messageRow(item)
  if (item.kind === 'end') return { kind: 'end', key: item.id, item }
  const { sessionUpdate, title, description } = item.update
  if (sessionUpdate !== 'notice') return null
  const text = [title, description].filter((one) => typeof one === 'string').join(': ')
  return { kind: 'notice', key: item.id, text }
}

/** The server says as a message how a turn ended that did not end by itself. */
function messageRow(item: MessageItem): ThreadRow {
  const { messageId, role, id: key } = item
  if (role !== 'agent' || messageId?.endsWith('-end') !== true) return { kind: KIND_OF[role], key, item }
  const text = messageText(item)
  return { kind: text.startsWith('This turn failed:') ? 'failed' : 'cut', key, text, at: item.at?.last }
}

/** The text of a message, without what is no text. */
export function messageText({ content }: MessageItem): string {
  return content.map(({ text, type }) => (type === 'text' ? (text ?? '') : '')).join('')
}

/** How long it took; undefined where the server does not tell when entries were stored. */
export function tookMs({ at }: Step): number | undefined {
  return at === undefined ? undefined : at.last - at.first
}

/** The first entry of a row; undefined where the server has not said it. */
export function seqOfRow(row: ThreadRow): number | undefined {
  if (row.kind === 'steps') return row.items[0]?.seq?.first
  return 'item' in row ? row.item.seq?.first : undefined
}

/** The row that has this entry of the journal. */
export function rowAt(rows: readonly ThreadRow[], seq: number): ThreadRow | undefined {
  return rows.findLast((row) => (seqOfRow(row) ?? Number.POSITIVE_INFINITY) <= seq)
}

/** Opens what hides this entry in its row. */
export function unfold(row: ThreadRow, seq: number, folds: { set(id: string, isOpen: boolean): void }): void {
  if (row.kind === 'thought' || row.kind === 'call') folds.set(row.item.id, true)
  if (row.kind !== 'steps') return
  folds.set(row.key, true)
  const item = row.items.findLast((one) => (one.seq?.first ?? Number.POSITIVE_INFINITY) <= seq)
  if (item !== undefined) folds.set(item.id, true)
}
