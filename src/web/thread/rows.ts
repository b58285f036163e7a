/** What of a conversation stands in one row of the list: each of its items, a part of a long answer, or a run of finished steps. Pure. */
import type { EndItem, Item, MessageItem, ToolCallItem } from '../../client/transcript/items.ts'
import { MAX_CHARS } from '../markdown/growing-markdown.ts'
import { MarkdownParts, type Part } from '../markdown/markdown-parts.ts'
import { messageText } from './conversation.ts'

export type ThreadRow =
  | { readonly kind: 'prompt' | 'thought'; readonly key: string; readonly item: MessageItem }
  | AnswerRow
  | { readonly kind: 'notice'; readonly key: string; readonly text: string }
  | CutRow
  | { readonly kind: 'end'; readonly key: string; readonly item: EndItem }
  | { readonly kind: 'call'; readonly key: string; readonly item: ToolCallItem }
  | { readonly kind: 'steps'; readonly key: string; readonly items: readonly Step[] }

export interface AnswerRow {
  readonly kind: 'answer'
  readonly key: string
  readonly item: MessageItem
  /** Of an answer that is too long for one row. */
  readonly part?: Part
}

export interface CutRow {
  readonly kind: 'cut' | 'failed'
  readonly key: string
  readonly text: string
  readonly at: number | undefined
}

export type Step = MessageItem | ToolCallItem

/** Fewer calls than this stand by themselves. */
const MIN_CALLS = 2
/** An answer of more characters stands in several rows. */
const LONG_ANSWER = 6_000

export class Rows {
  /** The first items of runs that are folded; they stay so, whatever comes. */
  readonly #folded = new Set<string>()
  readonly #known = new WeakMap<Item, readonly ThreadRow[]>()
  /** The answer that grows. */
  #growing: { readonly id: string; readonly parts: MarkdownParts } | undefined
  readonly #ofParts = new WeakMap<Part, AnswerRow>()
  /** Items that were there before. */
  readonly #seen = new Set<string>()
  /** The items as they were, for a list grows in place; their rows; and where each run of items ends in both. */
  #before: readonly Item[] = []
  #rows: readonly ThreadRow[] = []
  readonly #runs: { readonly end: number; readonly rows: number }[] = []
  #mayFold = false

  /** `mayFold`: folding would not move what is being read. `isWorking`: the last run is not finished. */
  of(items: readonly Item[], how: { readonly mayFold: boolean; readonly isWorking: boolean }): readonly ThreadRow[] {
    const same = how.mayFold === this.#mayFold ? firstDifference(items, this.#before) : 0
    this.#mayFold = how.mayFold
    // A run also ends by the item after it.
    while ((this.#runs.at(-1)?.end ?? -1) >= same) this.#runs.pop()
    const last = this.#runs.at(-1)
    const rows = this.#rows.slice(0, last?.rows ?? 0)
    for (let at = last?.end ?? 0; at < items.length;) {
      const end = this.#endOfRun(items, at)
      const run = items.slice(at, end) as readonly Step[]
      // What comes all at once, before anything is shown or beside what is read, moves nothing that is read.
      const mayFold = how.mayFold || run.every(({ id }) => !this.#seen.has(id))
      if (this.#isFolded(run, mayFold && (end < items.length || !how.isWorking)))
        rows.push({ kind: 'steps', key: `steps ${run[0]?.id}`, items: run })
      else
        for (const item of items.slice(at, Math.max(end, at + 1)))
          rows.push(...this.#rowsOf(item, how.isWorking && item === items.at(-1)))
      at = Math.max(end, at + 1)
      this.#runs.push({ end: at, rows: rows.length })
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

  #rowsOf(item: Item, isGrowing: boolean): readonly ThreadRow[] {
    const known = this.#known.get(item)
    // A turn may begin before its first item is here; the answer before it stays as it is.
    if (known !== undefined) return known
    if (isGrowing && isAnswer(item)) return this.#partsOf(item, true)
    const rows =
      isAnswer(item) && (this.#growing?.id === item.id || isLong(item)) ? this.#partsOf(item, false) : rowsOf(item)
    this.#known.set(item, rows)
    return rows
  }

  /** The first has the key of the whole, for it was the whole until the answer became long. */
  #partsOf(item: MessageItem, isGrowing: boolean): readonly AnswerRow[] {
    const known = this.#growing?.id === item.id ? this.#growing.parts : undefined
    const parts = known ?? new MarkdownParts()
    if (isGrowing) this.#growing = { id: item.id, parts }
    else if (known !== undefined) this.#growing = undefined
    return parts.of(messageText(item).slice(0, MAX_CHARS), !isGrowing).map((part) => {
      const before = this.#ofParts.get(part)
      if (before !== undefined && (!part.isLast || before.item === item)) return before
      const key = part.index === 0 ? item.id : `${item.id} ${part.index}`
      // The text as it was when a part was finished would be kept with it.
      const row: AnswerRow = { kind: 'answer', key, item: part.isLast ? item : { ...item, content: [] }, part }
      this.#ofParts.set(part, row)
      return row
    })
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

function isAnswer(item: Item): item is MessageItem {
  return item.kind === 'message' && item.role === 'agent' && !isEnd(item)
}

function isLong({ content }: MessageItem): boolean {
  return content.reduce((sum, { type, text }) => sum + (type === 'text' ? (text ?? '').length : 0), 0) > LONG_ANSWER
}

/** The server says as a message how a turn ended that did not end by itself. */
function isEnd({ messageId }: MessageItem): boolean {
  return messageId?.endsWith('-end') === true
}

const KIND_OF = { user: 'prompt', agent: 'answer', thought: 'thought' } as const

function rowsOf(item: Item): readonly ThreadRow[] {
  if (item.kind === 'tool_call') return [{ kind: 'call', key: item.id, item }]
  if (item.kind === 'message') return [messageRow(item)]
  if (item.kind === 'end') return [{ kind: 'end', key: item.id, item }]
  const { sessionUpdate, title, description } = item.update
  if (sessionUpdate !== 'notice') return []
  const text = [title, description].filter((one) => typeof one === 'string').join(': ')
  return [{ kind: 'notice', key: item.id, text }]
}

function messageRow(item: MessageItem): ThreadRow {
  const { role, id: key } = item
  if (role !== 'agent' || !isEnd(item)) return { kind: KIND_OF[role], key, item }
  const text = messageText(item)
  return { kind: text.startsWith('This turn failed:') ? 'failed' : 'cut', key, text, at: item.at?.last }
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

/** It goes on with the answer of the row before. */
export function isContinued(row: ThreadRow): boolean {
  return row.kind === 'answer' && (row.part?.index ?? 0) > 0
}

/** The row that has this entry of the journal; of an answer in several rows, the first that `has` what is looked for, else the first. */
export function rowAt(
  rows: readonly ThreadRow[],
  seq: number,
  has: (text: string) => boolean = () => false,
): ThreadRow | undefined {
  const at = rows.findLastIndex((row) => !isContinued(row) && (seqOfRow(row) ?? Number.POSITIVE_INFINITY) <= seq)
  const end = rows.findIndex((row, index) => index > at && !isContinued(row))
  const parts = at === -1 ? [] : rows.slice(at, end === -1 ? rows.length : end)
  return parts.find((row) => row.kind === 'answer' && row.part !== undefined && has(row.part.raw)) ?? parts[0]
}

/** Opens what hides this entry in its row. */
export function unfold(row: ThreadRow, seq: number, folds: { set(id: string, isOpen: boolean): void }): void {
  if (row.kind === 'thought' || row.kind === 'call') folds.set(row.item.id, true)
  if (row.kind !== 'steps') return
  folds.set(row.key, true)
  const item = row.items.findLast((one) => (one.seq?.first ?? Number.POSITIVE_INFINITY) <= seq)
  if (item !== undefined) folds.set(item.id, true)
}
