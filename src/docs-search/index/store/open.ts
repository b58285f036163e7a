/** Opens the file of an index to write, or does without one. */
import { mkdirSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { reasonOf } from '../../../errors/parley-error.ts'
import { removeDatabase } from '../../../sqlite/database.ts'
import { tryLock } from '../../../state-files/file-lock.ts'
import { IndexWriter, SCHEMA_VERSION } from './index-writer.ts'

export interface OpenedIndex {
  readonly database: IndexWriter
  readonly file: string
  /** A directory to remove as soon as both threads have opened the file. */
  readonly temporary?: string
  /** Lets other processes have it; the kernel does so too, however this one ends. */
  readonly release: () => void
}

/**
 * An index can always be rebuilt from the documents, so a damaged file is no loss. A damaged one, or one of another
 * version, is rebuilt. While another process has it, or nothing can be written, a temporary one is used.
 */
export function openIndexDatabase(file: string | undefined, log: (line: string) => void): OpenedIndex {
  if (file === undefined) return temporary()
  let release: (() => void) | undefined
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    // The index itself is open to readers, so that its only writer is known by another file.
    const lock = tryLock(`${file}.lock`)
    if (lock === undefined) throw new Error('another process uses it')
    release = () => lock.release()
    return { database: openWriter(file) ?? renewed(file), file, release }
  } catch (error) {
    release?.()
    const why = /locked|busy/i.test(reasonOf(error)) ? 'another process uses it' : reasonOf(error)
    log(`The index is made for this run only, because ${file} cannot be used: ${why}.`)
    return temporary()
  }
}

/** Undefined when the file holds no index of this version. */
function openWriter(file: string): IndexWriter | undefined {
  try {
    const database = new IndexWriter(file, { lasting: true })
    if (database.version === SCHEMA_VERSION) return database
    database[Symbol.dispose]()
  } catch (error) {
    if (!/malformed|not a database|corrupt|no such table/i.test(reasonOf(error))) throw error
  }
  return undefined
}

function renewed(file: string): IndexWriter {
  removeDatabase(file)
  return new IndexWriter(file, { lasting: true })
}

/** Its files lose their names as soon as everybody has opened them, so that nothing is left of it however it ends. */
function temporary(): OpenedIndex {
  const directory = mkdtempSync(join(tmpdir(), 'parley-docs-index-'))
  const file = join(directory, 'index.sqlite')
  return { database: new IndexWriter(file, { lasting: false }), file, temporary: directory, release: () => undefined }
}
