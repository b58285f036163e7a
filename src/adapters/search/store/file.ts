/** The file of the index. Everything in it can be rebuilt from the journal, so a file that is not valid is deleted. */
import { closeSync, openSync, statSync } from 'node:fs'
import { type Database, openDatabase, removeDatabase } from '../../../sqlite/database.ts'
import { inTransaction } from '../../../sqlite/statements.ts'
import { TOKENIZER } from '../../../text/tokens.ts'

/** The version of the tables and of the text in them. An index of another version is rebuilt. */
const VERSION = 1
/** "Pars" in the header of the file. */
const APPLICATION = 0x50_61_72_73

/**
 * A passage has one row in `words` under its own id. `seq` of a session is the cursor of the projection. `at` is the time
 * of that entry; it reveals a journal that was put back to an earlier state. A session in `gone` is no longer found, and
 * its passages are still to be deleted.
 */
const SCHEMA = `
  CREATE TABLE sessions (
    key INTEGER PRIMARY KEY, id TEXT NOT NULL, cwd TEXT NOT NULL, seq INTEGER NOT NULL, at INTEGER NOT NULL, turn TEXT
  ) STRICT;
  CREATE INDEX sessions_by_id ON sessions (id);
  CREATE TABLE passages (
    id INTEGER PRIMARY KEY, session INTEGER NOT NULL, name TEXT NOT NULL, part INTEGER NOT NULL, said_by TEXT NOT NULL,
    turn TEXT, seq INTEGER NOT NULL, until INTEGER NOT NULL, at INTEGER NOT NULL, title TEXT, text TEXT NOT NULL,
    repeats INTEGER NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX passages_of ON passages (session, name, part);
  CREATE TABLE gone (session INTEGER PRIMARY KEY) STRICT;
  CREATE VIRTUAL TABLE words USING fts5 (text, tokenize = "${TOKENIZER}", content = '', contentless_delete = 1);
`

/** A crash of the process loses no transaction; a crash of the machine leaves none half written. */
const PRAGMAS = [
  'journal_mode = WAL',
  'synchronous = NORMAL',
  'cache_size = -2000',
  'wal_autocheckpoint = 4000',
  'journal_size_limit = 16777216',
]

/** How long this process waits for another one that writes the same index. */
const BUSY_TIMEOUT_MS = 5_000

export interface IndexFile {
  readonly db: Database
  /** Whether the name still leads to this file. */
  isThere(): boolean
}

/** Where the file cannot be written, the index is a temporary one that only this process sees. */
export function openSearchFile(path: string): IndexFile {
  try {
    makePrivate(path)
    return opened(path)
  } catch (error) {
    if (isBusy(error)) throw error
    return isUnwritable(error) ? temporary() : anew(path)
  }
}

/** It is not ours, of another version or damaged. */
function anew(path: string): IndexFile {
  removeDatabase(path)
  makePrivate(path)
  return opened(path)
}

function opened(path: string): IndexFile {
  const db = openDatabase(path, { timeoutMs: BUSY_TIMEOUT_MS, pragmas: PRAGMAS })
  try {
    settle(db)
    const { ino } = statSync(path)
    return { db, isThere: () => statSync(path, { throwIfNoEntry: false })?.ino === ino }
  } catch (error) {
    db.close()
    throw error
  }
}

function temporary(): IndexFile {
  const db = openDatabase('')
  settle(db)
  return { db, isThere: () => true }
}

/** Two processes may come to an empty file at once: the second finds what the first has made. */
function settle(db: Database): void {
  inTransaction(db, () => {
    if (isEmpty(db)) db.exec(`${SCHEMA} PRAGMA application_id = ${APPLICATION}; PRAGMA user_version = ${VERSION}`)
    if (!isOurs(db)) throw new Error('an index of another version')
  })
}

function isEmpty(db: Database): boolean {
  const { user_version: version } = db.prepare('PRAGMA user_version').get() as { readonly user_version: number }
  const { tables } = db.prepare('SELECT count(*) AS tables FROM sqlite_schema').get() as { readonly tables: number }
  return version === 0 && tables === 0
}

export function isOurs(db: Database): boolean {
  const { user_version: version } = db.prepare('PRAGMA user_version').get() as { readonly user_version: number }
  const { application_id: id } = db.prepare('PRAGMA application_id').get() as { readonly application_id: number }
  return id === APPLICATION && version === VERSION
}

function makePrivate(path: string): void {
  closeSync(openSync(path, 'a', 0o600))
}

/** Whether the error means that the file is damaged, so that the index must be rebuilt from the journal. */
export function isDamaged(error: unknown): boolean {
  return /malformed|not a database|no such table|corrupt/iu.test(messageOf(error))
}

function isBusy(error: unknown): boolean {
  return messageOf(error).includes('locked')
}

function isUnwritable(error: unknown): boolean {
  const { code } = (error ?? {}) as { readonly code?: unknown }
  return (
    (typeof code === 'string' && ['EACCES', 'EPERM', 'EROFS', 'ENOENT', 'ENOSPC'].includes(code)) ||
    /readonly|unable to open|disk is full/iu.test(messageOf(error))
  )
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : ''
}
