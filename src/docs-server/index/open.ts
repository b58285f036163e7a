/** Opens the file of an index, or does without one. */
import { mkdirSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { reasonOf } from '../../errors/parley-error.ts'
import { Database, SCHEMA_VERSION } from './database.ts'

/**
 * An index is made of the documents, so whatever is wrong with its file is no loss: another version's or a damaged one is
 * made anew, and while another process has it, or nothing can be written, a temporary one serves.
 */
export function openDatabase(file: string | undefined, log: (line: string) => void): Database {
  if (file === undefined) return new Database('')
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    return opened(file) ?? renewed(file)
  } catch (error) {
    const why = /locked|busy/i.test(reasonOf(error)) ? 'another process uses it' : reasonOf(error)
    log(`The index is kept in memory only, because ${file} cannot be used: ${why}.`)
    return new Database('')
  }
}

/** Undefined when the file holds no index that we can go on with. */
function opened(file: string): Database | undefined {
  try {
    const database = new Database(file)
    if (database.version === SCHEMA_VERSION) return database
    database[Symbol.dispose]()
  } catch (error) {
    if (!/malformed|not a database|corrupt|no such table/i.test(reasonOf(error))) throw error
  }
  return undefined
}

function renewed(file: string): Database {
  for (const suffix of ['', '-wal', '-shm', '-journal']) rmSync(`${file}${suffix}`, { force: true })
  return new Database(file)
}
