/**
 * Reads a session's conversation backwards, a page at a time and without loading the rest: for a client that shows the end first
 * and fetches what came before as its user goes there.
 */
import { fail } from '../../errors/parley-error.ts'
import type { Cursor, Journal, SessionId } from '../../ports/journal.ts'
import { type Entry, decodeEntry } from '../domain/entries.ts'
import { type Replayed, ReplayCoalescer, firstOf } from '../subscribers/replay-coalescer.ts'

export interface PageQuery {
  /** The page ends with the entry before this one; absent: with the last one that is stored. */
  readonly before?: Cursor | undefined
  /** About how many messages, tool calls and other things to show. */
  readonly limit: number
  /** Entries that are read at once. */
  readonly step?: number
}

export interface SessionPage {
  /** Merged as a replay merges them. */
  readonly entries: readonly Replayed[]
  /** The number of its first entry, with which an item begins. The page before this one ends there. */
  readonly from: Cursor
  /** Something to show comes before it. */
  readonly more: boolean
  /** The number of the turn that the first entry belongs to; 0 before the first turn. */
  readonly turn: number
}

const STEP = 1_000
/** Characters of a page, unless a single item is longer. */
const MOST_CHARS = 4 * 1024 * 1024
/** One turn can have more entries between two places at which no item is cut in two. Then one is. */
const MOST_ENTRIES = 50_000

/**
 * A page begins with the first entry of an item, and no item goes over its beginning. What an agent reports of a call in a later
 * turn counts as an item of that turn. Throws SESSION_NOT_FOUND.
 */
export async function readPage(
  journal: Pick<Journal, 'head' | 'page'>,
  id: SessionId,
  { before, limit, step = STEP }: PageQuery,
): Promise<SessionPage> {
  const head = await journal.head(id)
  if (head === undefined) return fail('SESSION_NOT_FOUND', { session: id })
  const end = Math.min(before ?? Number.POSITIVE_INFINITY, head.row.lastSeq + 1)
  const read: (readonly Entry[])[] = []
  for (;;) {
    const entries = read.toReversed().flat()
    const start = end - entries.length
    const page = new PageCut(entries, start <= 1)
    const found = page.find(limit)
    if (found !== undefined) return pageFrom(journal, id, { entries, cut: found, isWhole: start <= 1 })
    const earlier = await entriesBefore(journal, id, { before: start, step })
    if (earlier.length === 0) return fail('SESSION_NOT_FOUND', { session: id })
    read.push(earlier)
  }
}

/** Some entries before this one; none if the session was deleted meanwhile. */
async function entriesBefore(
  journal: Pick<Journal, 'page'>,
  id: SessionId,
  { before, step }: { readonly before: Cursor; readonly step: number },
): Promise<readonly Entry[]> {
  const entries: Entry[] = []
  let cursor = Math.max(0, before - 1 - step)
  while (cursor < before - 1) {
    const limits = { entries: before - 1 - cursor, chars: MOST_CHARS }
    const stored = await journal.page(id, cursor, limits)
    entries.push(...stored.map(decodeEntry))
    const last = stored.at(-1)
    if (last === undefined) return []
    cursor = last.seq
  }
  return entries
}

interface Cut {
  readonly entries: readonly Entry[]
  /** The index of the page's first entry. */
  readonly cut: number
  readonly isWhole: boolean
}

async function pageFrom(
  journal: Pick<Journal, 'page'>,
  id: SessionId,
  { entries, cut, isWhole }: Cut,
): Promise<SessionPage> {
  const isFirst = isWhole && !entries.slice(0, cut).some(isShown)
  if (isFirst) return { entries: merged(entries), from: 1, more: false, turn: turnBefore(entries, 0) ?? 0 }
  const turn = turnBefore(entries, cut) ?? (await turnAt(journal, id, (entries[0]?.seq ?? 1) - 1))
  const wanted = entries.slice(cut)
  return { entries: merged(wanted), from: wanted[0]?.seq ?? 1, more: true, turn }
}

/** The number of the turn to which the entry after `cursor` belongs. */
export async function turnAt(journal: Pick<Journal, 'page'>, id: SessionId, cursor: Cursor): Promise<number> {
  let before = cursor + 1
  while (before > 1) {
    const entries = await entriesBefore(journal, id, { before, step: STEP })
    const turn = turnBefore(entries, entries.length)
    if (turn !== undefined || entries.length === 0) return turn ?? 0
    before -= entries.length
  }
  return 0
}

/** The turn of the entry at `index`, if these entries say it: turns are numbered one after the other. */
function turnBefore(entries: readonly Entry[], index: number): number | undefined {
  for (let at = index - 1; at >= 0; at -= 1) {
    const entry = entries[at]
    if (entry?.kind === 'turn_started') return numberOf(entry.turnId)
  }
  const next = entries.slice(index).find(({ kind }) => kind === 'turn_started')
  return next?.kind === 'turn_started' ? numberOf(next.turnId) - 1 : undefined
}

function numberOf(turnId: string): number {
  return Number(turnId.slice(1))
}

function merged(entries: readonly Entry[]): readonly Replayed[] {
  const coalescer = new ReplayCoalescer()
  return [...coalescer.push(entries), ...coalescer.flush()]
}

/** The places at which these entries can be cut: where an item begins and no earlier one continues. */
class PageCut {
  readonly #entries: readonly Entry[]
  /** Nothing comes before these entries. */
  readonly #isWhole: boolean
  /** The first and the last index of each item. -1: it may have begun before these entries. */
  readonly #items = new Map<string, { first: number; last: number }>()
  /** The item of each entry; undefined for what is shown nowhere. */
  readonly #keys: readonly (string | undefined)[]
  readonly #firstShown: number
  readonly #firstTurn: number

  constructor(entries: readonly Entry[], isWhole: boolean) {
    this.#entries = entries
    this.#isWhole = isWhole
    const naming = new ItemNames()
    this.#keys = entries.map((entry) => naming.of(entry))
    this.#firstShown = indexOf(entries, isShown)
    this.#firstTurn = indexOf(entries, ({ kind }) => kind === 'turn_started')
    for (const [index, key] of this.#keys.entries()) {
      const item = key === undefined ? undefined : this.#items.get(key)
      if (item !== undefined) item.last = index
      else if (key !== undefined) this.#items.set(key, { first: this.#begins(index) ? index : -1, last: index })
    }
  }

  /** The index of the first entry of the page; undefined when entries before these have to be known. */
  find(limit: number): number | undefined {
    const entries = this.#entries
    const { shown, chars } = this.#sizes()
    const isEnough = this.#isWhole || (shown[0] ?? 0) > limit || (chars[0] ?? 0) > MOST_CHARS
    const isTooMuch = entries.length >= MOST_ENTRIES
    if (!isEnough && !isTooMuch) return undefined
    const fits = (index: number) => (shown[index] ?? 0) <= limit && (chars[index] ?? 0) <= MOST_CHARS
    const clean = this.#clean()
    const best = clean.find(fits) ?? clean.at(-1)
    if (best !== undefined) return best
    if (this.#isWhole) return 0
    if (!isTooMuch) return undefined
    return entries.findIndex((_entry, index) => fits(index) && this.#begins(index))
  }

  /** Of what begins at each index and after it: how many things are shown, and about how long they are. */
  #sizes(): { readonly shown: readonly number[]; readonly chars: readonly number[] } {
    const first = this.#entries[0]?.seq ?? 1
    const shown = this.#entries.map(() => 0)
    const chars = this.#entries.map(() => 0)
    for (const entry of merged(this.#entries)) {
      const index = firstOf(entry).seq - first
      if (!isShown(entry)) continue
      shown[index] = 1
      chars[index] = JSON.stringify(entry).length
    }
    for (let index = shown.length - 2; index >= 0; index -= 1) {
      shown[index] = (shown[index] ?? 0) + (shown[index + 1] ?? 0)
      chars[index] = (chars[index] ?? 0) + (chars[index + 1] ?? 0)
    }
    return { shown, chars }
  }

  #clean(): readonly number[] {
    const clean: number[] = []
    let reach = -1
    for (const { first, last } of this.#items.values()) if (first === -1) reach = Math.max(reach, last)
    for (const [index, key] of this.#keys.entries()) {
      const item = key === undefined ? undefined : this.#items.get(key)
      if (item === undefined) continue
      if (reach < index && item.first === index) clean.push(index)
      reach = Math.max(reach, item.last)
    }
    return clean
  }

  /** Whether the first of these entries that an item has is its first entry at all. */
  #begins(index: number): boolean {
    const entry = this.#entries[index]
    switch (entry?.kind) {
      case 'message_chunk':
      case 'compaction_summary':
        // The parts of a message follow each other, with little between them.
        return this.#isWhole || this.#firstShown < index
      case 'tool_call_patched':
      case 'permission_requested':
      case 'permission_resolved':
        return this.#isWhole || this.#firstTurn < index
      default:
        return entry !== undefined && isShown(entry)
    }
  }
}

function indexOf(entries: readonly Entry[], holds: (entry: Entry) => boolean): number {
  const index = entries.findIndex(holds)
  return index === -1 ? entries.length : index
}

/** Names the item that an entry is a part of. Items of one turn are none of the next. */
class ItemNames {
  #turn = 0
  readonly #asked = new Map<string, string>()

  of(entry: Entry): string | undefined {
    switch (entry.kind) {
      case 'turn_started':
        this.#turn += 1
        return undefined
      case 'message_chunk':
        return `${entry.role} ${entry.messageId}`
      case 'tool_call':
      case 'tool_call_patched':
        return this.#call(entry.toolCallId)
      case 'permission_requested':
        this.#asked.set(entry.requestId, entry.toolCallId)
        return this.#call(entry.toolCallId)
      case 'permission_resolved': {
        const toolCallId = this.#asked.get(entry.requestId)
        return toolCallId === undefined ? `question ${entry.requestId}` : this.#call(toolCallId)
      }
      case 'compaction':
      case 'compaction_summary':
        return `compaction ${entry.compactionId}`
      default:
        return isShown(entry) ? `entry ${entry.seq}` : undefined
    }
  }

  #call(toolCallId: string): string {
    return `call ${this.#turn} ${toolCallId}`
  }
}

const SHOWN: ReadonlySet<Entry['kind']> = new Set([
  'message_chunk',
  'tool_call',
  'tool_call_patched',
  'plan',
  'notice',
  'foreign',
  'compaction',
  'compaction_summary',
  'forked_from',
])

/** Whether it is a part of what a reader of the conversation sees. */
function isShown(entry: Entry): boolean {
  if (entry.kind === 'turn_ended') return entry.stopReason === 'interrupted' || entry.stopReason === 'error'
  return SHOWN.has(entry.kind)
}
