/** The two that may sit behind the worker's loop: the owner, who writes, and a reader, who only looks. */
import { existsSync, mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Faults } from '../../../../ports/fault.ts'
import { openForOwner, openForReader } from '../file/file.ts'
import { commitGroup, type GroupTools, rollBack } from '../store/group-commit.ts'
import { lockPathIn, takeLock } from '../lock/lock.ts'
import type { Answer, FindAnswer, HeadAnswer, PageAnswer, ReadCall, RowColumns } from './messages.ts'
import { journalError, refusalOf } from '../file/sqlite-errors.ts'
import type { Database } from '../file/schema.ts'
import type { WorkerStore } from './serve.ts'
import { Store } from '../store/store.ts'
import { lockIdentityOf } from '../lock/lock-identity-check.ts'

export function journalPath(directory: string): string {
  return join(directory, 'journal.db')
}

/** The lock comes before the journal is even looked at, and goes after it is closed. */
export function openOwnerStore(directory: string, faults: Faults): WorkerStore {
  makeDirectory(directory)
  const path = journalPath(directory)
  const lock = takeLock(directory)
  try {
    const db = openForOwner(path)
    const tools: GroupTools = { db, store: new Store(db, path), faults, path }
    const whereabouts = lockIdentityOf(lockPathIn(directory), path)
    return {
      read: (call) => answer(call, path, () => tools.store),
      async write(group) {
        const answers = await commitGroup(tools, group)
        // Before anyone hears that it is stored: what throws here ends the thread, and with it the owner.
        whereabouts.require()
        return answers
      },
      tidy: () => tidy(tools),
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
    write: async (group) => group.map(([call]) => [call, null, refusalOf(new Error('it was opened to be read'), path)]),
    tidy: () => false,
    close: () => db?.close(),
  }
}

function answer(call: ReadCall, path: string, open: () => Store | undefined): Answer {
  let store: Store | undefined
  try {
    store = open()
    return [call[0], ask(call, store)]
  } catch (error) {
    store?.renew()
    return [call[0], null, refusalOf(error, path)]
  }
}

function ask(
  [, kind, ask]: ReadCall,
  store: Store | undefined,
): PageAnswer | FindAnswer | HeadAnswer | readonly RowColumns[] | readonly string[] | undefined {
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

function tidy({ db, store }: GroupTools): boolean {
  try {
    return store.sweep()
  } catch {
    // Nobody waits for this: what is left is swept another time, and a sick disk is told to whoever appends.
    store.renew()
    rollBack(db)
    return false
  }
}

function closeOwner(db: Database): void {
  try {
    db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  } catch {
    // Everything is durable in the WAL already; the next owner takes it from there.
  }
  db.close()
}

/** Step by step: Node's own way never ends where a directory can neither be found nor made, as under /proc. */
function makeDirectory(path: string): void {
  const parent = dirname(path)
  if (!existsSync(parent)) makeDirectory(parent)
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    if (!existsSync(join(path, '.'))) throw error
  }
}
