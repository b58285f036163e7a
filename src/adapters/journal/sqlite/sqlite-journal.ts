/** The SQLite journal as the main thread sees it. Only its worker thread loads SQLite. */
import { ParleyError, fail, isParleyError } from '../../../errors/parley-error.ts'
import type { Faults, FaultsSpec } from '../../../ports/fault.ts'
import type { Append, Cursor, ImportingJournal, Journal, SessionSummary, StoredEntry } from '../../../ports/journal.ts'
import type { Ownership } from '../../../ports/ownership.ts'
import type { Signal } from '../../../ports/values/signal.ts'
import { WorkerThread } from '../../../threads/worker-thread.ts'
import { faultsFrom, noFaults } from '../../fault.ts'
import type { WatchOrder } from '../../watchdog/stall-watch.ts'
import { TailSubscribers, checkAppend, follow, packEntries } from '../journal-base.ts'
import { ROW_BYTES, mayWait } from './store/rows.ts'
import { journalPath } from './file/journal-exists.ts'
import type { AppendOrder, JournalCalls, PageAnswer, WorkerOrder } from './worker/messages.ts'

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
  /** For tests only: how long the journal is left alone before its WAL is emptied. */
  readonly idleMs?: number
}

/** The journal of the process that owns the state directory. The worker thread holds the lock. */
export interface OwnedJournal extends ImportingJournal {
  readonly ownership: Ownership
}

export interface JournalReader extends Pick<Journal, 'page' | 'find' | 'head' | 'list' | 'close'> {
  /** Reads the whole file and changes nothing; a sentence for each thing that is wrong with it. */
  check(): Promise<readonly string[]>
}

/**
 * Takes the owner's lock and opens the journal, and creates both if need be. Throws STATE_IN_USE while another owner lives, and
 * JOURNAL_CORRUPT, JOURNAL_FOREIGN, JOURNAL_TOO_OLD or JOURNAL_TOO_NEW with the file untouched.
 */
export async function openSqliteJournal(options: SqliteJournalOptions): Promise<OwnedJournal> {
  const { directory, workerUrl, faults = [], watch, idleMs } = options
  const connection = await Connection.open(workerUrl, { directory, role: 'owner', faults, watch, idleMs })
  const { subscribers } = connection
  const reader = readerOn(connection)
  const played = faultsFrom(faults)
  const sent = new SentRows()
  return {
    ...reader,
    ownership: { lost: connection.lost, release: reader.close },
    async append(append) {
      checkAppend(append)
      try {
        await sendAppend(connection, played, { ...appendOrder(append), row: sent.news(append) })
      } catch (error) {
        sent.forget(append.row.id)
        throw error
      }
      subscribers.appended(append.row)
    },
    async fork(source, append) {
      checkAppend(append)
      await sendFork(connection, played, { source, append })
      subscribers.appended(append.row)
    },
    async importSession(pieces, last) {
      subscribers.appended(await sendImport(connection, played, { pieces, last }))
    },
    read: (id, from, signal) => follow(reader.page, subscribers, { id, from, signal }),
    watch: (listener) => subscribers.watchList(listener),
    async delete(id) {
      const existed = await connection.thread.call('delete', id)
      sent.forget(id)
      if (existed) subscribers.deleted(id)
      return existed
    },
  }
}

/**
 * Reads the journal without the lock, whether or not it has an owner. Where there is no journal it is empty, and none is created;
 * SQLite may keep its `-wal` and `-shm` files beside one that exists.
 */
export async function openSqliteReader({ directory, workerUrl }: SqliteReaderOptions): Promise<JournalReader> {
  return readerOn(await Connection.open(workerUrl, { directory, role: 'reader', faults: [] }))
}

/** A reader for one look that leaves no file beside the journal. */
export async function openSqliteInspector({ directory, workerUrl }: SqliteReaderOptions): Promise<JournalReader> {
  return readerOn(await Connection.open(workerUrl, { directory, role: 'inspector', faults: [] }))
}

/**
 * The rows that the thread has of sessions that work. They change with the end of a turn, and to send one with each word took as
 * long as the word itself.
 */
class SentRows {
  readonly #rows = new Map<string, SessionSummary>()

  /** The row, unless the thread has it. */
  news({ row, entries }: Append): SessionSummary | undefined {
    const former = this.#rows.get(row.id)
    if (former !== undefined && mayWait(former, row, entries.at(-1)?.at)) return undefined
    if (row.phase === 'working') this.#rows.set(row.id, row)
    else this.#rows.delete(row.id)
    return row
  }

  /** It was not stored, or is there no more. */
  forget(id: string): void {
    this.#rows.delete(id)
  }
}

/** The worker thread of one open journal, and who follows its sessions here. */
class Connection {
  readonly subscribers = new TailSubscribers()
  readonly #thread: WorkerThread<JournalCalls>
  readonly #path: string
  readonly #lost = new AbortController()
  #isOpen = false
  #closing: Promise<void> | undefined
  #opened: { resolve(): void; reject(error: unknown): void } = { resolve: () => {}, reject: () => {} }

  /** Resolves when the thread has opened the journal; rejects with why it could not, after it has ended. */
  static async open(workerUrl: URL, order: WorkerOrder): Promise<Connection> {
    const connection = new Connection(workerUrl, order)
    try {
      await new Promise<void>((resolve, reject) => (connection.#opened = { resolve, reject }))
      connection.#isOpen = true
      return connection
    } catch (error) {
      await connection.#thread.exited
      throw error
    }
  }

  private constructor(workerUrl: URL, order: WorkerOrder) {
    this.#path = journalPath(order.directory)
    this.#thread = new WorkerThread<JournalCalls>(
      workerUrl,
      { workerData: order, name: 'parley journal' },
      {
        event: (_opened, refusal) => {
          if (refusal === undefined) this.#opened.resolve()
          else this.#opened.reject(new ParleyError(refusal.code, refusal.details))
        },
        ended: (reason, cause) => this.#ended(reason, cause),
      },
    )
  }

  /** Aborts when the thread ends although the journal was not closed: its lock is gone. */
  get lost(): Signal {
    return this.#lost.signal
  }

  /** Throws JOURNAL_CLOSED once `close` was called. */
  get thread(): WorkerThread<JournalCalls> {
    return this.#closing === undefined ? this.#thread : fail('JOURNAL_CLOSED', {})
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    this.subscribers.wakeAll()
    return this.#closing
  }

  /** Finishes what was called before; resolves when the thread is gone. */
  async #close(): Promise<void> {
    try {
      await this.#thread.call('close', undefined)
    } catch (error) {
      // A thread that is gone has nothing left to release.
      if (!isParleyError(error, 'JOURNAL_IO')) throw error
    }
    await this.#thread.exited
  }

  #ended(reason: string, cause: unknown): ParleyError {
    const error = new ParleyError('JOURNAL_IO', { path: this.#path, reason }, cause)
    this.#opened.reject(error)
    this.subscribers.wakeAll()
    if (this.#isOpen && this.#closing === undefined) this.#lost.abort(cause === undefined ? undefined : reason)
    return error
  }
}

function readerOn(connection: Connection): JournalReader {
  return {
    async page(id, from, { entries, chars }) {
      return entriesOf(from, await connection.thread.call('page', { id, from, entries, chars }))
    },
    async find(id, { from, text }, { entries, chars }) {
      const { seqs, at, bodies, until } = await connection.thread.call('find', { id, from, text, entries, chars })
      return { entries: seqs.map((seq, index) => ({ seq, at: at[index] ?? 0, body: bodies[index] ?? '' })), until }
    },
    async head(id) {
      return connection.thread.call('head', id)
    },
    async list(query) {
      return connection.thread.call('list', query)
    },
    async check() {
      return connection.thread.call('check', undefined)
    },
    close: () => connection.close(),
  }
}

/** An error of a fault is thrown once it is known whether the append is stored: it was on its way already. */
async function sendAppend(connection: Connection, faults: Faults, order: AppendOrder): Promise<void> {
  const stored = connection.thread.call('append', order)
  if (faults === noFaults) return stored
  const played = afterSend(faults)
  const [storing, playing] = await Promise.allSettled([stored, played])
  if (storing.status === 'rejected') throw storing.reason
  if (playing.status === 'rejected') throw playing.reason
}

/** In parts, between which other appends are committed. */
async function sendFork(
  connection: Connection,
  faults: Faults,
  { source, append }: { readonly source: string; readonly append: Append },
): Promise<void> {
  const { expected: until } = append
  const place = await connection.thread.call('fork', { source, at: until })
  try {
    let from = 0
    while (from < until) from = await connection.thread.call('copy', { ...place, id: source, from, until })
    await faults.at('journal.fork.copied')
    await connection.thread.call('finish', { draft: place.draft, append: appendOrder(append) })
  } finally {
    await letGo(connection, place.draft)
  }
}

interface Import {
  readonly pieces: AsyncIterable<readonly StoredEntry[]>
  readonly last: () => Append
}

/** In parts too. Answers the row of the session, once it exists. */
async function sendImport(connection: Connection, faults: Faults, { pieces, last }: Import): Promise<SessionSummary> {
  const draft = await connection.thread.call('draft', undefined)
  try {
    let count = 0
    for await (const entries of pieces) {
      await connection.thread.call('fill', {
        draft,
        rows: packEntries(count + 1, columnsOfEntries(entries), ROW_BYTES),
      })
      count += entries.length
      await faults.at('journal.import.filled')
    }
    const append = last()
    checkAppend(append)
    await connection.thread.call('finish', { draft, append: appendOrder(append) })
    return append.row
  } finally {
    await letGo(connection, draft)
  }
}

async function letGo(connection: Connection, draft: number): Promise<void> {
  try {
    await connection.thread.call('abandon', draft)
  } catch {
    // A journal that is closed or broken has dropped its drafts, and the next owner removes their entries.
  }
}

async function afterSend(faults: Faults): Promise<void> {
  // Calls leave at the end of the turn in which they were made; this comes right after.
  await Promise.resolve()
  await faults.at('journal.append.sent')
}

function appendOrder({ row, entries, expected, snapshot }: Append): AppendOrder & { readonly row: SessionSummary } {
  return {
    id: row.id,
    row,
    expected,
    last: expected + entries.length,
    lastAt: entries.at(-1)?.at,
    rows: packEntries(expected + 1, columnsOfEntries(entries), ROW_BYTES),
    snapshot,
  }
}

function columnsOfEntries(entries: readonly StoredEntry[]): { readonly at: number[]; readonly bodies: string[] } {
  return { at: entries.map((entry) => entry.at), bodies: entries.map((entry) => entry.body) }
}

function entriesOf(from: Cursor, { at, bodies }: PageAnswer): readonly StoredEntry[] {
  return bodies.map((body, index) => ({ seq: from + index + 1, at: at[index] ?? 0, body }))
}
