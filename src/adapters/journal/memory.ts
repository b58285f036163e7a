/** A journal that lives as long as its process: for tests, and the plainest reading of the port. */
import { fail } from '../../errors/parley-error.ts'
import type {
  Append,
  FoundEntries,
  ImportingJournal,
  ListKey,
  ListQuery,
  PageLimits,
  SessionHead,
  SessionId,
  SessionSummary,
  Snapshot,
  StoredEntry,
  TextSearch,
} from '../../ports/journal.ts'
import { TailSubscribers, checkAppend, follow, isListed } from './journal-base.ts'

interface StoredSession {
  readonly row: SessionSummary
  readonly entries: StoredEntry[]
  readonly snapshot: Snapshot | undefined
}

export function memoryJournal(): ImportingJournal {
  const sessions = new Map<SessionId, StoredSession>()
  const watches = new TailSubscribers()
  let closed = false

  function open(): Map<SessionId, StoredSession> {
    return closed ? fail('JOURNAL_CLOSED', {}) : sessions
  }

  async function append(append: Append): Promise<void> {
    const { row, entries, expected, snapshot } = append
    const stored = open().get(row.id)
    checkAppend(append)
    const found = stored?.row.lastSeq ?? 0
    if (found !== expected) fail('JOURNAL_CONFLICT', { session: row.id, expected, found })
    const all = stored?.entries ?? []
    all.push(...entries)
    sessions.set(row.id, { row, entries: all, snapshot: snapshot ?? stored?.snapshot })
    watches.appended(row)
  }

  async function fork(source: SessionId, append: Append): Promise<void> {
    const { expected } = append
    const found = open().get(source)?.row.lastSeq ?? 0
    checkAppend(append)
    if (found < expected) fail('JOURNAL_CONFLICT', { session: source, expected, found })
    make(sessions.get(source)?.entries ?? [], append)
  }

  /** A session that begins with entries of elsewhere. */
  function make(before: readonly StoredEntry[], { row, entries, expected, snapshot }: Append): void {
    const found = open().get(row.id)?.row.lastSeq
    if (found !== undefined) fail('JOURNAL_CONFLICT', { session: row.id, expected: 0, found })
    sessions.set(row.id, { row, entries: [...before.slice(0, expected), ...entries], snapshot })
    watches.appended(row)
  }

  async function bring(pieces: AsyncIterable<readonly StoredEntry[]>, last: () => Append): Promise<void> {
    const brought = await allOf(pieces)
    make(brought, checked(last()))
  }

  async function page(id: SessionId, from: number, limits: PageLimits): Promise<readonly StoredEntry[]> {
    const entries = open().get(id)?.entries ?? []
    return fit(entries.slice(from, from + Math.max(1, limits.entries)), limits)
  }

  async function find(id: SessionId, { from, text }: TextSearch, limits: PageLimits): Promise<FoundEntries> {
    const entries = await page(id, from, limits)
    return { entries: entries.filter(({ body }) => body.includes(text)), until: entries.at(-1)?.seq }
  }

  async function forget(id: SessionId): Promise<boolean> {
    const existed = open().delete(id)
    if (existed) watches.deleted(id)
    return existed
  }

  async function close(): Promise<void> {
    closed = true
    sessions.clear()
    watches.wakeAll()
  }

  return {
    append,
    fork,
    importSession: bring,
    page,
    find,
    read: (id, from, signal) => follow(page, watches, { id, from, signal }),
    watch: (listener) => watches.watchList(listener),
    head: async (id) => headOf(open().get(id)),
    list: async (query) => wanted([...open().values()], query),
    delete: forget,
    close,
  }
}

async function allOf(pieces: AsyncIterable<readonly StoredEntry[]>): Promise<readonly StoredEntry[]> {
  const all: StoredEntry[] = []
  for await (const piece of pieces) all.push(...piece)
  return all
}

function checked(append: Append): Append {
  checkAppend(append)
  return append
}

function headOf(stored: StoredSession | undefined): SessionHead | undefined {
  if (stored === undefined) return undefined
  const { row, snapshot } = stored
  return snapshot === undefined ? { row } : { row, snapshot }
}

function wanted(sessions: readonly StoredSession[], query: ListQuery): readonly SessionSummary[] {
  return sessions
    .map(({ row }) => row)
    .filter((row) => isWanted(row, query))
    .sort(newestFirst)
    .slice(0, query.limit)
}

function isWanted(row: SessionSummary, query: ListQuery): boolean {
  return isListed(row, query) && (query.after === undefined || newestFirst(query.after, row) < 0)
}

function newestFirst(a: ListKey, b: ListKey): number {
  if (a.updatedAt !== b.updatedAt) return b.updatedAt - a.updatedAt
  if (a.id === b.id) return 0
  return a.id < b.id ? -1 : 1
}

/** The first entries that fit the limits; one always does. Takes no more from the source than it needs. */
function fit(entries: Iterable<StoredEntry>, limits: PageLimits): readonly StoredEntry[] {
  const page: StoredEntry[] = []
  let chars = 0
  for (const entry of entries) {
    chars += entry.body.length
    if (page.length > 0 && chars > limits.chars) break
    page.push(entry)
    if (page.length >= limits.entries) break
  }
  return page
}
