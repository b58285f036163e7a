/** Which failures of a model pass by themselves, and how long to wait for that: visibly, and no longer than people would. */
import { isParleyError } from '../../../../errors/parley-error.ts'
import { type TurnWork, think } from './work.ts'

/** Of one step, the first included. */
const ATTEMPTS = 6

const FIRST_PAUSE = 1_000
const LONGEST_PAUSE = 60_000
/** Whoever starts a server that is not there yet has these many attempts of a second each; everyone else is told at once. */
const ATTEMPTS_FOR_ABSENT = 3
/** Whoever is told to come back later than this is better told to go. Milliseconds. */
const PATIENCE = 5 * 60_000

const PASSING: Readonly<Record<string, (model: string) => string>> = {
  MODEL_RATE_LIMIT: (model) => `Rate limited by ${model}`,
  MODEL_OVERLOADED: (model) => `${model} is overloaded`,
  MODEL_NETWORK: (model) => `${model} could not be reached`,
  MODEL_ABSENT: (model) => `${model} is not there`,
  MODEL_STREAM: (model) => `The answer of ${model} broke off`,
  MODEL_IDLE: (model) => `${model} went silent`,
}

export interface Failed {
  readonly error: unknown
  readonly model: string
  /** From 1. */
  readonly attempt: number
}

/** Waits before another attempt; throws the error if there is no point in one, and when the turn is cancelled. */
export async function pauseBefore(work: TurnWork, { error, model, attempt }: Failed): Promise<void> {
  const what = isParleyError(error) ? PASSING[error.code]?.(model) : undefined
  const isAbsent = isParleyError(error, 'MODEL_ABSENT')
  const attempts = isAbsent ? ATTEMPTS_FOR_ABSENT : ATTEMPTS
  const pause = isAbsent ? FIRST_PAUSE : pauseOf(error, attempt)
  if (what === undefined || attempt >= attempts || pause > PATIENCE || work.turn.signal.aborted) throw error
  const seconds = Math.ceil(pause / 1000)
  await think(work, `${what}; trying again in ${seconds} s (${attempt + 1} of ${attempts}).`)
  await work.means.clock.sleep(pause, work.turn.signal)
}

function pauseOf(error: unknown, attempt: number): number {
  const told = isParleyError(error) ? (error.details as { readonly retryAfterMs?: number }).retryAfterMs : undefined
  return told ?? Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** (attempt - 1))
}
