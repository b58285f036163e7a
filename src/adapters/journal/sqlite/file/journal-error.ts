/** Translates errors of the disk or of SQLite into errors of the journal's port. */
import { isParleyError, ParleyError, reasonOf } from '../../../../errors/parley-error.ts'
import { sqliteProblem } from '../../../../sqlite/errors.ts'
import type { CallRefusal } from '../../../../threads/worker-port.ts'

/** Any error as one of the catalogue; `path` is the journal's file. */
export function journalError(error: unknown, path: string): ParleyError {
  if (isParleyError(error)) return error
  const problem = sqliteProblem(error)
  if (problem === 'full' || ['ENOSPC', 'EDQUOT'].includes(String(systemCode(error))))
    return new ParleyError('JOURNAL_FULL', { path }, error)
  const code = problem === 'corrupt' || problem === 'notADatabase' ? 'JOURNAL_CORRUPT' : 'JOURNAL_IO'
  return new ParleyError(code, { path, reason: reasonOf(error) }, error)
}

export function journalRefusal(error: unknown, path: string): CallRefusal {
  const { code, details } = journalError(error, path)
  return { code, details }
}

/** The error may belong to one write alone: too big, or a damaged page of its own. A disk that fails concerns all writes. */
export function mayBeOneWrites(error: unknown): boolean {
  return ['corrupt', 'full', 'tooBig', 'constraint'].includes(sqliteProblem(error) ?? '')
}

export function systemCode(error: unknown): unknown {
  return (error as { readonly code?: unknown } | undefined)?.code
}
