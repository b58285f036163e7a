/**
 * Errors that nothing caught: exceptions in events and timers, and promises that nobody waited for. What is stored cannot be harmed
 * by them: every append goes through the journal's own thread and its fence. So the server goes on for its other sessions.
 */
import { isParleyError } from '../../errors/parley-error.ts'
import type { Clock } from '../../ports/clock.ts'

/** So many within so many milliseconds come from something that will not stop by itself. */
const STORM = { errors: 100, within: 10_000 }

export interface UncaughtHost {
  readonly clock: Pick<Clock, 'monotonicNow'>
  /** The sessions in which turns run now; the error may belong to one of them. */
  readonly working: () => readonly string[]
  readonly report: (error: unknown) => void
}

export class Uncaught {
  readonly #host: UncaughtHost
  /** When the latest came, on the clock of what has elapsed. */
  #latest: readonly number[] = []

  constructor(host: UncaughtHost) {
    this.#host = host
  }

  /** Logs it, with its cause. Returns why the process must end at once; undefined when the server goes on. */
  judge(error: unknown, kind: 'exception' | 'rejection'): string | undefined {
    const { clock, working, report } = this.#host
    const now = clock.monotonicNow()
    this.#latest = [...this.#latest, now].slice(-STORM.errors)
    const sessions = working()
    const where = sessions.length === 0 ? 'no turn ran' : `turns ran in ${sessions.join(', ')}`
    report(new Error(`Nothing caught this ${kind}; ${where}`, { cause: error }))
    // Another process appends to the sessions of this one: two owners must never both go on.
    if (isParleyError(error, 'JOURNAL_CONFLICT')) return error.message
    const [first = now] = this.#latest
    const isStorm = this.#latest.length === STORM.errors && now - first <= STORM.within
    return isStorm ? `${STORM.errors} errors within ${STORM.within / 1000} s were not caught` : undefined
  }
}
