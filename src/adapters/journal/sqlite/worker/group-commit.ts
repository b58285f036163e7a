/**
 * The stores that the worker's loop uses: the owner's store, which commits writes in groups, or a reader's, which only
 * reads. In a group many writes share one transaction and one disk write, and each still succeeds or fails alone.
 */
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { isParleyError } from '../../../../errors/parley-error.ts'
import type { Faults } from '../../../../ports/fault.ts'
import type { Database } from '../../../../sqlite/database.ts'
import { rollBack } from '../../../../sqlite/statements.ts'
import { makeDirectory } from '../../../../state-files/make-directory.ts'
import type { CallAnswer } from '../../../../threads/worker-port.ts'
import { BUSY_TIMEOUT_MS, openForOwner, openForReader } from '../file/file.ts'
import { journalError, mayBeOneWrites, journalRefusal } from '../file/journal-error.ts'
import { lockPathIn, takeLock } from '../lock/lock.ts'
import { Store } from '../store/store.ts'
import type { JournalCalls, ReadCall, WriteCall } from './messages.ts'

export interface WorkerStore {
  read(call: ReadCall): CallAnswer
  write(group: readonly WriteCall[]): Promise<readonly CallAnswer[]>
  /** Removes some entries of deleted sessions; false when there are none. */
  sweep(): boolean
  /** Empties the WAL, which otherwise keeps the size that it once had; false when a reader is in the way. Never waits. */
  tidy(): boolean
  close(): void
}

interface OpenJournal {
  readonly db: Database
  readonly store: Store
  readonly faults: Faults
  readonly path: string
}

export function journalPath(directory: string): string {
  return join(directory, 'journal.db')
}

/** The lock is taken before the journal is even looked at, and released after it is closed. */
export function openOwnerStore(directory: string, faults: Faults): WorkerStore {
  makeDirectory(directory)
  const path = journalPath(directory)
  const lock = takeLock(directory)
  try {
    const db = openForOwner(path)
    const journal: OpenJournal = { db, store: new Store(db, path), faults, path }
    const requireSameFiles = openFilesCheck(lockPathIn(directory), path)
    return {
      read: (call) => answer(call, path, () => journal.store),
      async write(group) {
        const answers = await commitGroup(journal, group)
        // Before any write is answered as stored. An error here ends the thread, and with it the ownership.
        requireSameFiles()
        return answers
      },
      sweep: () => sweep(journal),
      tidy: () => truncateWal(db),
      close() {
        closeOwner(db)
        lock.release()
      },
    }
  } catch (error) {
    lock.release()
    throw journalError(error, path)
  }
}

/** There may be no journal yet, or it may appear later; until then it is empty. */
export function openReaderStore(directory: string, { quiet }: { readonly quiet: boolean }): WorkerStore {
  const path = journalPath(directory)
  let db: Database | undefined
  let store: Store | undefined
  function open(): Store | undefined {
    db ??= openForReader(path, { quiet })
    if (db !== undefined) store ??= new Store(db, path)
    return store
  }
  open()
  return {
    read: (call) => answer(call, path, open),
    write: async (group) =>
      group.map(([call]) => [call, null, journalRefusal(new Error('it was opened to be read'), path)]),
    sweep: () => false,
    tidy: () => true,
    close: () => db?.close(),
  }
}

function answer(call: ReadCall, path: string, open: () => Store | undefined): CallAnswer {
  let store: Store | undefined
  try {
    store = open()
    return [call[0], read(call, store)]
  } catch (error) {
    store?.renew()
    return [call[0], null, journalRefusal(error, path)]
  }
}

function read([, kind, ask]: ReadCall, store: Store | undefined): JournalCalls[ReadCall[1]]['answer'] {
  switch (kind) {
    case 'page':
      return store?.page(ask) ?? { at: [], bodies: [] }
    case 'find':
      return store?.find(ask) ?? { seqs: [], at: [], bodies: [], until: undefined }
    case 'head':
      return store?.head(ask)
    case 'list':
      return store?.list(ask) ?? []
    case 'check':
      return store?.check() ?? []
  }
}

/** Answers every call of the group after its transaction is on the disk, or has changed nothing. */
async function commitGroup(journal: OpenJournal, group: readonly WriteCall[]): Promise<readonly CallAnswer[]> {
  try {
    return await commit(journal, group)
  } catch (error) {
    journal.store.renew()
    rollBack(journal.db)
    if (group.length > 1 && mayBeOneWrites(error)) return commitEachAlone(journal, group)
    const refusal = journalRefusal(error, journal.path)
    return group.map(([call]) => [call, null, refusal])
  }
}

/** One write may be too big for the disk, or meet a damaged page, where the others do not. */
async function commitEachAlone(journal: OpenJournal, group: readonly WriteCall[]): Promise<readonly CallAnswer[]> {
  const answers: CallAnswer[] = []
  for (const write of group) answers.push(...(await commitGroup(journal, [write])))
  return answers
}

async function commit(journal: OpenJournal, group: readonly WriteCall[]): Promise<readonly CallAnswer[]> {
  const { db, faults } = journal
  db.exec('BEGIN IMMEDIATE')
  const answers = group.map((call) => attempt(journal, call))
  const written = faults.at('journal.rows.written')
  if (written !== undefined) await written
  db.exec('COMMIT')
  const committed = faults.at('journal.transaction.committed')
  if (committed !== undefined) await committed
  return answers
}

/** A conflict is found before anything is written, so the others continue; any other error ends the transaction. */
function attempt({ store, path }: OpenJournal, write: WriteCall): CallAnswer {
  const [call] = write
  try {
    return [call, apply(store, write) ?? null]
  } catch (error) {
    if (isParleyError(error, 'JOURNAL_CONFLICT')) return [call, null, journalRefusal(error, path)]
    throw error
  }
}

function apply(store: Store, [, kind, ask]: WriteCall): unknown {
  switch (kind) {
    case 'append':
      return store.append(ask)
    case 'fork':
      return store.forks.begin(ask)
    case 'copy':
      return store.forks.copy(ask)
    case 'draft':
      return store.forks.draft()
    case 'fill':
      return store.forks.fill(ask)
    case 'finish':
      return store.forks.finish(ask)
    case 'abandon':
      return store.forks.abandon(ask)
    case 'delete':
      return store.deleteSession(ask)
  }
}

function sweep({ db, store }: OpenJournal): boolean {
  try {
    return store.sweep()
  } catch {
    // No call waits for this. Orphans that remain are swept later, and the next append meets the failing disk.
    store.renew()
    rollBack(db)
    return false
  }
}

function closeOwner(db: Database): void {
  try {
    db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  } catch {
    // Everything is durable in the WAL already; the next owner reads it from there.
  }
  db.close()
}

/**
 * Writers and readers come first: it would wait for them as long as a statement waits for another program. SQLite syncs the
 * WAL, then the file, before it cuts the WAL off, so that a crash at any moment loses nothing.
 */
function truncateWal(db: Database): boolean {
  try {
    db.exec('PRAGMA busy_timeout = 0')
    const { busy } = db.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get() as { readonly busy: number }
    return busy === 0
  } catch {
    // A disk that fails, or is full. The next write tells; another attempt follows it.
    return true
  } finally {
    db.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`)
  }
}

/**
 * Returns a check that throws when one of the files that are open now was moved or removed since. Writing to such a file
 * still works, but no reader finds what is stored there, and a lock on it does not keep other processes out.
 */
function openFilesCheck(...paths: readonly string[]): () => void {
  const known = paths.map((path) => [path, identityOf(path)] as const)
  return () => {
    for (const [path, identity] of known)
      if (identityOf(path) !== identity) throw new Error(`${path} was moved or removed while it was in use`)
  }
}

/** Empty where there is no such file. */
function identityOf(path: string): string {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false })
  return found === undefined ? '' : `${found.dev} ${found.ino}`
}
