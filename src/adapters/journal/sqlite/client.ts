/** The SQLite journal as the rest of the process sees it; SQLite itself is loaded by the worker thread only. */
import { join } from 'node:path'
import { fail } from '../../../errors/parley-error.ts'
import type { Faults, FaultsSpec } from '../../../ports/fault.ts'
import type {
  Append,
  Cursor,
  ImportingJournal,
  Journal,
  ListQuery,
  Snapshot,
  StoredEntry,
} from '../../../ports/journal.ts'
import { faultsFrom, noFaults } from '../../fault.ts'
import type { WatchOrder } from '../../watchdog/stall-watch.ts'
import { checkAppend } from '../entries.ts'
import { follow, TailSubscribers } from '../tail.ts'
import { packEntries } from './store/entry-packing.ts'
import { columnsOf, escape, rowOf } from './store/columns.ts'
import { WorkerClient } from './worker/worker-client.ts'
import type { AppendOrder, ListOrder, PageAnswer, SnapshotColumns, WorkerOrder } from './worker/messages.ts'

export interface SqliteReaderOptions {
  /** The state directory, in which `journal.db` is. */
  readonly directory: string
  /** The built worker. */
  readonly workerUrl: URL
}

export interface SqliteJournalOptions extends SqliteReaderOptions {
  /** For tests only. */
  readonly faults?: FaultsSpec
  /** How the journal's thread watches the main thread; absent: not at all. */
  readonly watch?: WatchOrder
  /** Called once when the worker ends though nobody closed the journal, and with it the lock is gone; with why, if it said so. */
  readonly onLost?: (why?: string) => void
}

export interface JournalReader extends Pick<Journal, 'page' | 'find' | 'head' | 'list' | 'close'> {
  /** Reads the whole file and changes nothing; a sentence for each thing that is wrong with it. */
  check(): Promise<readonly string[]>
}

/**
 * Takes the owner's lock and opens the journal, making both if need be. Throws STATE_IN_USE while another owner lives,
 * and JOURNAL_CORRUPT, JOURNAL_FOREIGN or JOURNAL_TOO_NEW with the file untouched.
 */
export async function openSqliteJournal({
  directory,
  workerUrl,
  faults = [],
  watch,
  onLost,
}: SqliteJournalOptions): Promise<ImportingJournal> {
  const watches = new TailSubscribers()
  const connection = await connect(workerUrl, { directory, role: 'owner', faults, watch }, { watches, onLost })
  const reader = readerOn(connection)
  const played = faultsFrom(faults)
  return {
    ...reader,
    async append(append) {
      checkAppend(append)
      await sendAppend(connection, played, append)
      watches.appended(append.row.id)
    },
    async fork(source, append) {
      checkAppend(append)
      await sendFork(connection, played, { source, append })
      watches.appended(append.row.id)
    },
    async importSession(pieces, last) {
      watches.appended(await sendBrought(connection, played, { pieces, last }))
    },
    read: (id, from, signal) => follow(reader.page, watches, { id, from, signal }),
    async delete(id) {
      const existed = await connection.line().call('delete', escape(id))
      if (existed) watches.deleted(id)
      return existed
    },
  }
}

/**
 * Looks into the journal without the lock, whoever owns it. Where there is none it is empty, and none is made;
 * SQLite may keep its `-wal` and `-shm` files beside one that exists.
 */
export async function openSqliteReader({ directory, workerUrl }: SqliteReaderOptions): Promise<JournalReader> {
  return readerOn(
    await connect(workerUrl, { directory, role: 'reader', faults: [] }, { watches: new TailSubscribers() }),
  )
}

/** As a reader, for one look, and without a trace. */
export async function openSqliteInspector({ directory, workerUrl }: SqliteReaderOptions): Promise<JournalReader> {
  return readerOn(
    await connect(workerUrl, { directory, role: 'inspector', faults: [] }, { watches: new TailSubscribers() }),
  )
}

interface Connection {
  /** Throws JOURNAL_CLOSED once `close` was called. */
  readonly line: () => WorkerClient
  readonly close: () => Promise<void>
}

interface Concerned {
  readonly watches: TailSubscribers
  readonly onLost?: ((why?: string) => void) | undefined
}

async function connect(workerUrl: URL, order: WorkerOrder, { watches, onLost }: Concerned): Promise<Connection> {
  const path = join(order.directory, 'journal.db')
  let isOpen = false
  let closing: Promise<void> | undefined
  const broken = (why?: string): void => {
    watches.wakeAll()
    if (isOpen && closing === undefined) onLost?.(why)
  }
  const line = await WorkerClient.open({ workerUrl, order, path, onBroken: broken })
  isOpen = true
  return {
    line: () => (closing === undefined ? line : fail('JOURNAL_CLOSED', {})),
    close() {
      closing ??= line.close()
      watches.wakeAll()
      return closing
    },
  }
}

function readerOn({ line, close }: Connection): JournalReader {
  return {
    async page(id, from, { entries, chars }) {
      return entriesOf(from, await line().call('page', { id: escape(id), from, entries, chars }))
    },
    async find(id, { from, text }, { entries, chars }) {
      const { seqs, at, bodies, until } = await line().call('find', { id: escape(id), from, text, entries, chars })
      return { entries: seqs.map((seq, index) => ({ seq, at: at[index] ?? 0, body: bodies[index] ?? '' })), until }
    },
    async head(id) {
      const found = await line().call('head', escape(id))
      if (found === undefined) return undefined
      const row = rowOf(found.row)
      return found.snapshot === undefined ? { row } : { row, snapshot: snapshotOf(found.snapshot) }
    },
    async list(query) {
      return (await line().call('list', listOrder(query))).map(rowOf)
    },
    check: () => line().call('check', undefined),
    close,
  }
}

/** What the fault throws is told once it is known that the append is stored: it was on its way already. */
async function sendAppend({ line }: Connection, faults: Faults, append: Append): Promise<void> {
  const stored = line().call('append', appendOrder(append))
  const played = afterSend(faults)
  const [storing, playing] = await Promise.allSettled([stored, played])
  if (storing.status === 'rejected') throw storing.reason
  if (playing.status === 'rejected') throw playing.reason
}

/** In pieces, between which the appends of others have their turn. */
async function sendFork(
  { line }: Connection,
  faults: Faults,
  { source, append }: { readonly source: string; readonly append: Append },
): Promise<void> {
  const id = escape(source)
  const { expected: until } = append
  const place = await line().call('fork', { source: id, at: until })
  try {
    let from = 0
    while (from < until) from = await line().call('copy', { ...place, id, from, until })
    await faults.at('journal.fork.copied')
    await line().call('finish', { draft: place.draft, append: appendOrder(append) })
  } finally {
    await letGo(line, place.draft)
  }
}

interface Brought {
  readonly pieces: AsyncIterable<readonly StoredEntry[]>
  readonly last: () => Append
}

/** In pieces too. The id of the session, once it is there. */
async function sendBrought({ line }: Connection, faults: Faults, { pieces, last }: Brought): Promise<string> {
  const draft = await line().call('draft', undefined)
  try {
    let count = 0
    for await (const entries of pieces) {
      await line().call('fill', { draft, rows: packEntries(count + 1, columnsOfEntries(entries)) })
      count += entries.length
      await faults.at('journal.import.filled')
    }
    const append = last()
    checkAppend(append)
    await line().call('finish', { draft, append: appendOrder(append) })
    return append.row.id
  } finally {
    await letGo(line, draft)
  }
}

async function letGo(line: Connection['line'], draft: number): Promise<void> {
  try {
    await line().call('abandon', draft)
  } catch {
    // A journal that is closed or broken has forgotten its drafts, and the next owner clears them away.
  }
}

async function afterSend(faults: Faults): Promise<void> {
  if (faults === noFaults) return
  // Calls leave at the end of the turn in which they were made; this comes right after.
  await Promise.resolve()
  await faults.at('journal.append.sent')
}

function appendOrder({ row, entries, expected, snapshot }: Append): AppendOrder {
  return {
    row: columnsOf(row),
    expected,
    last: expected + entries.length,
    rows: packEntries(expected + 1, columnsOfEntries(entries)),
    snapshot: snapshot === undefined ? undefined : [snapshot.seq, snapshot.state],
  }
}

function columnsOfEntries(entries: readonly StoredEntry[]): { readonly at: number[]; readonly bodies: string[] } {
  return { at: entries.map((entry) => entry.at), bodies: entries.map((entry) => entry.body) }
}

function listOrder({ cwd, phases, after, limit }: ListQuery): ListOrder {
  return {
    cwd: cwd === undefined ? undefined : escape(cwd),
    phases,
    after: after === undefined ? undefined : { updatedAt: after.updatedAt, id: escape(after.id) },
    limit,
  }
}

function entriesOf(from: Cursor, { at, bodies }: PageAnswer): readonly StoredEntry[] {
  return bodies.map((body, index) => ({ seq: from + index + 1, at: at[index] ?? 0, body }))
}

function snapshotOf([seq, state]: SnapshotColumns): Snapshot {
  return { seq, state }
}
