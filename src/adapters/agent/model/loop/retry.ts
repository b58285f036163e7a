/** Decides whether a failed request to the model is tried again, and waits visibly before the next attempt. */
import { backoffMs } from '../../../../async/backoff.ts'
import { isParleyError } from '../../../../errors/parley-error.ts'
import { type TurnWork, showNotice } from '../context/context.ts'

/** Attempts of one step, including the first. */
const ATTEMPTS = 6

const FIRST_PAUSE_MS = 1_000
const MAX_PAUSE_MS = 60_000
/** Attempts, a second apart, for a local server that may just be starting. */
const ATTEMPTS_FOR_ABSENT = 3
/** A provider that asks to wait longer ends the turn. Milliseconds. */
const MAX_RETRY_AFTER_MS = 5 * 60_000

const TEMPORARY_FAILURES: Readonly<Record<string, (model: string) => string>> = {
  MODEL_RATE_LIMIT: (model) => `Rate limited by ${model}`,
  MODEL_OVERLOADED: (model) => `${model} is overloaded`,
  MODEL_NETWORK: (model) => `${model} could not be reached`,
  MODEL_ABSENT: (model) => `${model} is not there`,
  MODEL_STREAM: (model) => `The answer of ${model} broke off`,
  MODEL_IDLE: (model) => `${model} went silent`,
}

interface FailedAttempt {
  readonly error: unknown
  readonly model: string
  /** From 1. */
  readonly attempt: number
}

/** Waits before another attempt; throws the error if there is no point in one, and when the turn is cancelled. */
export async function pauseBefore(work: TurnWork, { error, model, attempt }: FailedAttempt): Promise<void> {
  const what = isParleyError(error) ? TEMPORARY_FAILURES[error.code]?.(model) : undefined
  const isAbsent = isParleyError(error, 'MODEL_ABSENT')
  const attempts = isAbsent ? ATTEMPTS_FOR_ABSENT : ATTEMPTS
  const pause = isAbsent ? FIRST_PAUSE_MS : pauseOf(error, attempt)
  if (what === undefined || attempt >= attempts || pause > MAX_RETRY_AFTER_MS || work.turn.signal.aborted) throw error
  const seconds = Math.ceil(pause / 1000)
  await showNotice(work, `${what}; trying again in ${seconds} s (${attempt + 1} of ${attempts}).`)
  await work.deps.clock.sleep(pause, work.turn.signal)
}

function pauseOf(error: unknown, attempt: number): number {
  const requestedMs = isParleyError(error)
    ? (error.details as { readonly retryAfterMs?: number }).retryAfterMs
    : undefined
  return requestedMs ?? backoffMs(attempt, { firstMs: FIRST_PAUSE_MS, longestMs: MAX_PAUSE_MS })
}
