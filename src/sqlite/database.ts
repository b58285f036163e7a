/** Opens SQLite files. This is the only file that loads the SQLite library. */
import { existsSync, rmSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { DatabaseSync } from '@photostructure/sqlite'

export type Database = InstanceType<typeof DatabaseSync>
export type Statement = ReturnType<Database['prepare']>

export interface DatabaseOptions {
  /** How long a statement waits for another program that holds the file. */
  readonly timeoutMs?: number
  readonly readOnly?: boolean
  /** Set in this order, like `synchronous = FULL`. */
  readonly pragmas?: readonly string[]
}

export function openDatabase(location: string, options: DatabaseOptions = {}): Database {
  const { timeoutMs = 0, readOnly = false, pragmas = [] } = options
  const db = new DatabaseSync(location, { timeout: timeoutMs, readOnly })
  try {
    for (const pragma of pragmas) db.exec(`PRAGMA ${pragma}`)
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

/** A location that SQLite reads as a file that never changes: it takes no lock and creates no file beside it. */
export function immutableLocation(path: string): string {
  return `${pathToFileURL(path).href}?immutable=1`
}

/**
 * Where to open a file to read it without a trace. With no WAL beside it no process has it open, so it can be read as immutable. With
 * a WAL, the files that SQLite needs exist already.
 */
export function traceFreeLocation(path: string): string {
  const isInUse = existsSync(`${path}-wal`) || existsSync(`${path}-shm`)
  return isInUse ? path : immutableLocation(path)
}

/** Removes a database with the files that SQLite keeps beside it. */
export function removeDatabase(path: string): void {
  for (const suffix of ['-wal', '-shm', '-journal', '']) rmSync(path + suffix, { force: true })
}
