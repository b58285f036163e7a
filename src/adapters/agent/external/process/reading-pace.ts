/**
 * How often the output of an agent is read. An agent that writes each token by itself, and hundreds of them in a second, would
 * cost a wake-up, a disk write and a message to each client for every one of them.
 */
import type { Clock } from '../../../../ports/clock.ts'

/** While lines come fast, so much time is between two reads: less than a frame of a screen. */
const READ_EVERY_MS = 8
/** Lines in one millisecond from which on they come fast. A model writes a tenth of that. */
const FAST = 0.4
/** The pace is measured over at least this long: a turn of a few words is never held up. */
const WINDOW_MS = 50
/** A read that brought so many bytes has collected enough by itself. */
const LARGE_BYTES = 8 * 1024

export class ReadingPace {
  readonly #clock: Pick<Clock, 'monotonicNow' | 'sleep'>
  /** When the window began, and the lines that have come in it. */
  #since: number
  #lines = 0
  #isFast = false

  constructor(clock: Pick<Clock, 'monotonicNow' | 'sleep'>) {
    this.#clock = clock
    this.#since = clock.monotonicNow()
  }

  /** Called after each read; the next one comes once this resolves, at once if it is undefined. */
  next(lines: number, bytes: number): Promise<void> | undefined {
    const now = this.#clock.monotonicNow()
    this.#lines += lines
    const measuredMs = now - this.#since
    if (measuredMs >= WINDOW_MS) {
      this.#isFast = this.#lines >= FAST * measuredMs
      this.#since = now
      this.#lines = 0
    }
    return this.#isFast && bytes < LARGE_BYTES ? this.#clock.sleep(READ_EVERY_MS) : undefined
  }
}
