/**
 * Uncaught exceptions and unhandled rejections. They cannot harm what is stored: every append goes through the thread of the
 * journal and its fence. So the server continues for its other sessions.
 */
import { isParleyError } from '../../errors/parley-error.ts'
import type { Clock } from '../../ports/clock.ts'

/** More errors than this within this time come from something that will not stop by itself. Milliseconds. */
const STORM = { errors: 100, within: 10_000 }

export interface UncaughtOptions {
  readonly clock: Pick<Clock, 'monotonicNow'>
  /** The sessions in which turns run now; the error may belong to one of them. */
  readonly working: () => readonly string[]
  readonly report: (error: unknown) => void
}

export class Uncaught {
  readonly #host: UncaughtOptions
  /** When the latest came, on the clock of what has elapsed. */
  #latest: readonly number[] = []

  constructor(host: UncaughtOptions) {
    this.#host = host
  }

  /** Logs the error with its cause. Returns why the process must exit at once; undefined when the server can continue. */
  judge(error: unknown, kind: 'exception' | 'rejection'): string | undefined {
    const { clock, working, report } = this.#host
    const now = clock.monotonicNow()
    this.#latest = [...this.#latest, now].slice(-STORM.errors)
    const sessions = working()
    const where = sessions.length === 0 ? 'no turn ran' : `turns ran in ${sessions.join(', ')}`
    report(new Error(`Nothing caught this ${kind}; ${where}`, { cause: error }))
    // Another process appends to the sessions of this one: two owners must never both continue.
    if (isParleyError(error, 'JOURNAL_CONFLICT')) return error.message
    const [first = now] = this.#latest
    const isStorm = this.#latest.length === STORM.errors && now - first <= STORM.within
    return isStorm ? `${STORM.errors} errors within ${STORM.within / 1000} s were not caught` : undefined
  }
}
