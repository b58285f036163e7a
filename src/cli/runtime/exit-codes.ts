/** Exit codes, as `docs/commands.md` lists them. */
import { isParleyError } from '../../errors/parley-error.ts'

export const OK = 0
export const FAILED = 1
export const USAGE = 2
/** Interrupted, or the state belongs to another process: trying again later may help. */
export const TRY_AGAIN = 75
export const TURN_CANCELLED = 130

const OF_STOP: Readonly<Record<string, number>> = {
  end_turn: OK,
  refusal: 3,
  max_tokens: 4,
  max_turn_requests: 5,
  cancelled: TURN_CANCELLED,
}

export function exitOfStop(stopReason: string): number {
  return (Object.hasOwn(OF_STOP, stopReason) ? OF_STOP[stopReason] : undefined) ?? FAILED
}

export function exitOfError(error: unknown): number {
  if (!isParleyError(error)) return FAILED
  if (WRONG_SETTINGS.has(error.code)) return USAGE
  const code = isParleyError(error, 'PEER_REFUSED') ? error.details.code : error.code
  return LATER.has(code) ? TRY_AGAIN : FAILED
}

const WRONG_SETTINGS: ReadonlySet<string> = new Set(['CONFIG_INVALID', 'CONFIG_UNREADABLE', 'STATE_NOT_PRIVATE'])

const LATER: ReadonlySet<string> = new Set([
  'STATE_IN_USE',
  'CLUSTER_IN_USE',
  'TURN_INTERRUPTED',
  'SERVER_STOPPED',
  'SERVER_STOPPING',
  'CONNECTION_LOST',
  'AGENT_GONE',
])

/** From the best to the worst. */
const ORDER: readonly number[] = [OK, 4, 5, 3, TURN_CANCELLED, TRY_AGAIN, FAILED]

export function worse(a: number, b: number): number {
  return ORDER.indexOf(a) > ORDER.indexOf(b) ? a : b
}

/** Standard output fails so when its reader or the terminal has closed it; any other failure loses output. */
export function isReaderGone({ code }: NodeJS.ErrnoException): boolean {
  return code === 'EPIPE' || code === 'EIO'
}
