/** What an error of PostgreSQL means for the statement that met it. */
import { ParleyError, isParleyError, reasonOf } from '../../../../errors/parley-error.ts'

/**
 * `unknown`: it may have been done. `alone`: nothing was done, and of many sessions one was refused. `again`: nothing was done, and it
 * may be done a moment later. `refused`: the role, its password or its rights do not suffice. `absent`: the tables were never made.
 */
export type Outcome = 'unknown' | 'alone' | 'again' | 'full' | 'corrupt' | 'refused' | 'absent' | 'failed'

/** By the code of the error, or by its first two characters. */
const OUTCOMES: Readonly<Record<string, Outcome>> = {
  '57P01': 'unknown',
  '57P02': 'unknown',
  '57P03': 'unknown',
  '08': 'unknown',
  // A standby, or a primary that was set to read only.
  '25006': 'unknown',
  '23505': 'alone',
  '40001': 'alone',
  '40P01': 'alone',
  '55P03': 'alone',
  '53300': 'again',
  // An operator has cancelled the statement, or it took longer than a time-out of its role allows.
  '57014': 'again',
  '53100': 'full',
  '53200': 'full',
  '54000': 'full',
  XX001: 'corrupt',
  XX002: 'corrupt',
  '28': 'refused',
  '3D000': 'refused',
  '42501': 'refused',
  '42P01': 'absent',
  '3F000': 'absent',
}

/** A code of five characters is PostgreSQL's answer. Without one the connection failed, so the statement may have been done. */
export function outcomeOf(error: unknown): Outcome {
  const code = sqlState(error)
  if (code === undefined) return isParleyError(error) ? 'failed' : lacksPassword(error) ? 'refused' : 'unknown'
  return OUTCOMES[code] ?? OUTCOMES[code.slice(0, 2)] ?? 'failed'
}

/** The library has no code for it, and no words that a user would understand. */
function lacksPassword(error: unknown): boolean {
  return reasonOf(error).includes('client password must be a string')
}

/** Whether the same statement may be answered a moment later. */
export function mayCome(outcome: Outcome): boolean {
  return outcome === 'unknown' || outcome === 'alone' || outcome === 'again'
}

/** Codes of the operating system, as EPIPE, have no digit. */
export function sqlState(error: unknown): string | undefined {
  const code = (error as { readonly code?: unknown } | undefined)?.code
  return typeof code === 'string' && /^(?=.*\d)[0-9A-Z]{5}$/.test(code) ? code : undefined
}

/** Any error as one of the catalogue; `shown` is the address of the database. */
export function journalError(error: unknown, shown: string): ParleyError {
  if (isParleyError(error)) return error
  const outcome = outcomeOf(error)
  if (outcome === 'full') return new ParleyError('JOURNAL_FULL', { path: shown }, error)
  if (outcome === 'corrupt') return new ParleyError('JOURNAL_CORRUPT', { path: shown, reason: reasonOf(error) }, error)
  if (outcome === 'refused') {
    const reason = lacksPassword(error) ? 'it asks for a password, and none was given' : reasonOf(error)
    return new ParleyError('PG_REFUSED', { address: shown, reason }, error)
  }
  if (outcome === 'absent') return new ParleyError('CLUSTER_ABSENT', { address: shown }, error)
  if (outcome === 'unknown' || outcome === 'again')
    return new ParleyError('CLUSTER_UNREACHABLE', { address: shown, reason: reasonOf(error) || 'no answer' }, error)
  return new ParleyError('JOURNAL_IO', { path: shown, reason: reasonOf(error) }, error)
}
