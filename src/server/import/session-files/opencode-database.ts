/** OpenCode's database, which newer versions keep in place of files. A session of it is named `DATABASE#ID`. */
import { fail, reasonOf } from '../../../errors/parley-error.ts'
import { type Database, openDatabase, traceFreeLocation } from '../../../sqlite/database.ts'
import type { FileSession } from './file-session.ts'
import { type MessageFiles, readOpencode } from './opencode.ts'

/** How long OpenCode itself may keep the database locked. Milliseconds. */
const LOCKED_MS = 2_000

/** `/home/ada/opencode.db#ses_1` in its parts; undefined for the path of a file. */
export function sessionInDatabase(path: string): { readonly database: string; readonly id: string } | undefined {
  const [, database, id] = /^(.*\.db)#([^#/]+)$/su.exec(path) ?? []
  return database === undefined || id === undefined ? undefined : { database, id }
}

/** The sessions of people, oldest first; those of subagents belong to others. Throws IMPORT_UNREADABLE. */
export function sessionsInDatabase(database: string): readonly string[] {
  return reading(database, (db) => {
    const rows = db.prepare('SELECT id FROM session WHERE parent_id IS NULL ORDER BY time_created, id').all()
    return rows.map(({ id }) => `${database}#${String(id)}`)
  })
}

/** Throws IMPORT_UNREADABLE and IMPORT_INVALID. */
export function readFromDatabase(database: string, id: string, maxBytes: number): FileSession {
  return reading(database, (db) => {
    const [session] = db
      .prepare('SELECT id, directory, title, time_updated AS updated FROM session WHERE id = ?')
      .all(id)
    if (session === undefined) return unreadable(database, `it has no session ${id}`)
    const [size] = db.prepare('SELECT sum(length(data)) AS bytes FROM part WHERE session_id = ?').all(id)
    if (Number(size?.['bytes'] ?? 0) > maxBytes) unreadable(database, `session ${id} is larger than ${maxBytes} bytes`)
    const { directory, title, updated } = session
    const text = JSON.stringify({ id, directory, title, time: { updated } })
    return readOpencode({ path: `${database}#${id}`, text }, messagesOf(db, `${database}#${id}`, id))
  })
}

function messagesOf(db: Database, path: string, id: string): readonly MessageFiles[] {
  const parts = db.prepare('SELECT data FROM part WHERE message_id = ? ORDER BY id')
  return db
    .prepare('SELECT id, data FROM message WHERE session_id = ? ORDER BY time_created, id')
    .all(id)
    .map((message) => ({
      message: { path, text: String(message['data']) },
      parts: parts.all(String(message['id'])).map(({ data }) => ({ path, text: String(data) })),
    }))
}

/** OpenCode may have it open meanwhile; nothing is written to it. */
function reading<Result>(database: string, read: (db: Database) => Result): Result {
  let db: Database
  try {
    db = openDatabase(traceFreeLocation(database), { readOnly: true, timeoutMs: LOCKED_MS })
  } catch (error) {
    return unreadable(database, reasonOf(error))
  }
  try {
    return read(db)
  } catch (error) {
    if (error instanceof Error && 'code' in error && String(error.code).startsWith('IMPORT_')) throw error
    return unreadable(database, reasonOf(error))
  } finally {
    db.close()
  }
}

function unreadable(path: string, reason: string): never {
  return fail('IMPORT_UNREADABLE', { path, reason })
}
