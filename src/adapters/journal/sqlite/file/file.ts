/** Opens or creates `journal.db`, or reports why it cannot be used and leaves it exactly as it was; and empties its WAL. */
import { closeSync, existsSync, fsyncSync, openSync, readSync, renameSync, rmSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { fail } from '../../../../errors/parley-error.ts'
import { createPrivate } from '../../../../state-files/atomic-file.ts'
import { journalExists } from './journal-exists.ts'
import { type Database, immutableLocation, openDatabase, traceFreeLocation } from '../../../../sqlite/database.ts'
import { isUnwritable, sqliteProblem } from '../../../../sqlite/errors.ts'
import { journalError } from './journal-error.ts'
import { applicationId, developmentId, knownVersion, migrate } from './schema.ts'

/** How long a statement waits for another program that holds the file, such as someone's SQLite shell. */
const BUSY_TIMEOUT_MS = 5_000

/** FULL: a commit is on the disk before any client sees its entries. The library's default for WAL is less. */
const OWNER_PRAGMAS = [
  'journal_mode = WAL',
  'synchronous = FULL',
  'wal_autocheckpoint = 4000',
  'journal_size_limit = 67108864',
  'cache_size = -16000',
]

/** The owner's connection; the caller holds the lock. */
export function openForOwner(path: string): Database {
  if (!existsSync(path)) create(path)
  // The last owner may have been killed between writing a commit and its sync: readers see it, so it must be on the disk first.
  if (existsSync(`${path}-wal`)) fsync(`${path}-wal`)
  const version = look(path)
  const db = openDatabase(path, { timeoutMs: BUSY_TIMEOUT_MS, pragmas: OWNER_PRAGMAS })
  migrate(db, version)
  return db
}

/**
 * Opens a connection that cannot write; undefined while there is no journal. With `quiet` no files are created beside the
 * journal. Such a connection serves one read only, because it assumes that the journal does not change while no process
 * has it open.
 */
export function openForReader(path: string, { quiet }: { readonly quiet: boolean }): Database | undefined {
  if (!journalExists(path)) return undefined
  look(path)
  return openToRead(path, quiet ? traceFreeLocation(path) : path)
}

/**
 * SQLite opens a journal with two files beside it, which a full or read-only disk does not accept. If the WAL holds
 * nothing to read, the journal is opened without them, as a file that does not change.
 */
function openToRead(path: string, location: string): Database {
  const options = { timeoutMs: BUSY_TIMEOUT_MS, readOnly: true }
  const db = openDatabase(location, options)
  if (location !== path) return db
  try {
    db.exec('SELECT count(*) FROM sqlite_schema')
    return db
  } catch (error) {
    db.close()
    if (!isUnwritable(error) || isFilled(`${path}-wal`)) throw error
    return openDatabase(immutableLocation(path), options)
  }
}

/** A new journal appears under its name whole and on the disk, or not at all. */
function create(path: string): void {
  // SQLite would play an old WAL into the new file.
  if (isFilled(`${path}-wal`)) fail('JOURNAL_CORRUPT', { path, reason: 'it is gone and only its -wal file is left' })
  const draft = `${path}.new`
  for (const leftover of [draft, `${draft}-journal`, `${draft}-wal`, `${draft}-shm`]) rmSync(leftover, { force: true })
  createPrivate(draft)
  // It is synced once, as a whole, before it gets its name.
  const db = openDatabase(draft, { pragmas: ['synchronous = OFF'] })
  migrate(db, 0)
  db.exec('PRAGMA journal_mode = WAL')
  db.close()
  fsync(draft)
  renameSync(draft, path)
  fsync(dirname(path))
}

function isFilled(path: string): boolean {
  return (statSync(path, { throwIfNoEntry: false })?.size ?? 0) > 0
}

function fsync(path: string): void {
  const descriptor = openSync(path, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/** The format of the journal, after making sure that it is one, is sound at first sight, and is not too new. */
function look(path: string): number {
  if (statSync(path).size === 0) fail('JOURNAL_CORRUPT', { path, reason: 'it is empty' })
  const { id, version } = tryIdentify(path)
  if (id === developmentId) fail('JOURNAL_TOO_OLD', { path })
  if (id !== applicationId) fail('JOURNAL_FOREIGN', { path })
  if (version > knownVersion) fail('JOURNAL_TOO_NEW', { path, found: version, known: knownVersion })
  return version
}

interface Identity {
  readonly id: number
  readonly version: number
}

function tryIdentify(path: string): Identity {
  try {
    return identify(path)
  } catch (error) {
    if (sqliteProblem(error) === 'notADatabase' && !wasOurs(path)) fail('JOURNAL_FOREIGN', { path }, error)
    throw journalError(error, path)
  }
}

/**
 * Reads the identity and, in a journal, the newest of everything. A prepared statement would keep the file open until
 * it is collected, so this goes through `exec` and a function, and closing really closes.
 */
function identify(path: string): Identity {
  const db = openToRead(path, traceFreeLocation(path))
  let identity: Identity = { id: 0, version: 0 }
  try {
    db.function('identity', (id: number, version: number) => {
      identity = { id, version }
      return null
    })
    db.exec(
      'SELECT identity(application_id, user_version) FROM pragma_application_id, pragma_user_version, (SELECT count(*) FROM sqlite_schema)',
    )
    if (identity.id === applicationId && identity.version <= knownVersion) db.exec(firstReads)
    return identity
  } finally {
    db.close()
  }
}

/** Touches every tree of the file on the path that the next reads and appends will take. */
const firstReads = `
  SELECT * FROM sessions ORDER BY updated_at DESC, id LIMIT 1;
  SELECT * FROM sessions WHERE phase NOT IN ('idle', 'closed') ORDER BY updated_at DESC, id LIMIT 1;
  SELECT * FROM sessions ORDER BY cwd LIMIT 1;
  SELECT * FROM sessions ORDER BY key DESC LIMIT 1;
  SELECT * FROM entries ORDER BY session DESC, seq DESC LIMIT 1;
  SELECT * FROM snapshots ORDER BY session DESC LIMIT 1;
  SELECT * FROM orphans LIMIT 1;`

/** Whether a file without SQLite's header was a journal once: our id still stands in it, or the disk lost its first block. */
function wasOurs(path: string): boolean {
  const header = Buffer.alloc(100)
  const descriptor = openSync(path, 'r')
  try {
    readSync(descriptor, header, 0, header.length, 0)
  } finally {
    closeSync(descriptor)
  }
  return header.readUInt32BE(68) === applicationId || header.every((byte) => byte === 0)
}

export function closeOwner(db: Database): void {
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
export function truncateWal(db: Database): boolean {
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
