/** Where the journal of a state directory is, and whether there is one. A journal that this process is not permitted to look up does not count as absent. */
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { journalError, systemCode } from './journal-error.ts'

export function journalPath(directory: string): string {
  return join(directory, 'journal.db')
}

/** Throws JOURNAL_IO where it cannot be known, as where a file or a forbidden directory is in the way. */
export function journalExists(path: string): boolean {
  try {
    statSync(path)
    return true
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return false
    throw journalError(error, path)
  }
}
