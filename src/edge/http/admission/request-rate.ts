/** A token bucket for each client: so many requests at once, and so many more each second. */
import { LruMap } from '../../../async/lru.ts'

const MOST_KEYS = 10_000

export interface Rate {
  readonly perSecond: number
  readonly burst: number
}

export class RequestRate {
  readonly #now: () => number
  readonly #rate: Rate
  readonly #left = new LruMap<string, { readonly count: number; readonly at: number }>(MOST_KEYS)

  /** `now` in milliseconds, of a clock that never goes back. */
  constructor(now: () => number, rate: Rate) {
    this.#now = now
    this.#rate = rate
  }

  /** Seconds to wait; 0: it is counted and may go on. */
  take(key: string): number {
    const { perSecond, burst } = this.#rate
    const now = this.#now()
    const known = this.#left.get(key) ?? { count: burst, at: now }
    const count = Math.min(burst, known.count + ((now - known.at) / 1_000) * perSecond)
    this.#left.set(key, { count: count >= 1 ? count - 1 : count, at: now })
    return count >= 1 ? 0 : Math.ceil((1 - count) / perSecond)
  }
}
