/** What an error of the disk or of SQLite means to whoever called the journal. */
import { isParleyError, ParleyError, reasonOf } from '../../../../errors/parley-error.ts'
import type { Refusal } from '../worker/messages.ts'

const sqliteCodes = { corrupt: 11, full: 13, tooBig: 18, constraint: 19, notADatabase: 26 } as const

/** The library gives no code with an error that a read meets, only SQLite's words, which are fixed. */
const sqliteTexts: ReadonlyMap<string, number> = new Map([
  ['database disk image is malformed', sqliteCodes.corrupt],
  ['database or disk is full', sqliteCodes.full],
  ['file is not a database', sqliteCodes.notADatabase],
])

/** Any thrown thing as an error of the catalogue; `path` is the journal's file. */
export function journalError(error: unknown, path: string): ParleyError {
  if (isParleyError(error)) return error
  if (isFull(error)) return new ParleyError('JOURNAL_FULL', { path }, error)
  const reason = reasonOf(error)
  const code = sqliteCode(error)
  if (code === sqliteCodes.corrupt || code === sqliteCodes.notADatabase) {
    return new ParleyError('JOURNAL_CORRUPT', { path, reason }, error)
  }
  return new ParleyError('JOURNAL_IO', { path, reason }, error)
}

export function refusalOf(error: unknown, path: string): Refusal {
  const { code, details } = journalError(error, path)
  return { code, details }
}

export function isNotADatabase(error: unknown): boolean {
  return sqliteCode(error) === sqliteCodes.notADatabase
}

/** What SQLite says when a read needs a file beside the journal and cannot make it, or make it longer. */
export function cannotWrite(error: unknown): boolean {
  return /unable to open|disk I\/O error|readonly|is full/u.test(reasonOf(error))
}

/** The error may be one write's own: too big, or a page of its own damaged. A disk that fails is everyone's. */
export function mayBeOneWrites(error: unknown): boolean {
  const { corrupt, full, tooBig, constraint } = sqliteCodes
  return [corrupt, full, tooBig, constraint].some((code) => code === sqliteCode(error))
}

function isFull(error: unknown): boolean {
  return sqliteCode(error) === sqliteCodes.full || systemCode(error) === 'ENOSPC' || systemCode(error) === 'EDQUOT'
}

/** SQLite's primary result code; extended codes carry it in their low byte. */
function sqliteCode(error: unknown): number | undefined {
  const { errcode, message } = (error ?? {}) as { readonly errcode?: unknown; readonly message?: unknown }
  if (typeof errcode === 'number') return errcode & 0xff
  return typeof message === 'string' ? sqliteTexts.get(message) : undefined
}

export function systemCode(error: unknown): unknown {
  return (error as { readonly code?: unknown } | undefined)?.code
}
