/** Time that passes when a test says so. */
import type { Clock, Timer } from '../../src/ports/clock.ts'
import type { Signal } from '../../src/ports/values/signal.ts'

interface Due {
  readonly at: number
  readonly run: () => void
}

/** Everything that waits for neither time nor disk nor people has happened. */
export function quiet(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

export class TestClock implements Clock {
  #now = 1_000
  #ids = 0
  #due: readonly Due[] = []
  readonly #prefix: string

  /** Two clocks whose ids meet need a prefix each. */
  constructor(prefix = 'id') {
    this.#prefix = prefix
  }

  now(): number {
    return this.#now
  }

  monotonicNow(): number {
    return this.#now
  }

  id(): string {
    this.#ids += 1
    return `${this.#prefix}-${this.#ids}`
  }

  abortSource(): AbortController {
    return new AbortController()
  }

  /** Short enough to fit into what `quiet` waits for. */
  async nextTick(): Promise<void> {}

  setTimer(ms: number, run: () => void): Timer {
    const due = { at: this.#now + ms, run }
    this.#due = [...this.#due, due]
    return {
      cancel: () => {
        this.#due = this.#due.filter((one) => one !== due)
      },
    }
  }

  sleep(ms: number, signal?: Signal): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = this.setTimer(ms, resolve)
      const stop = () => {
        timer.cancel()
        reject(new Error('the sleep was cut short', { cause: signal?.reason }))
      }
      if (signal?.aborted === true) stop()
      signal?.addEventListener('abort', stop, { once: true })
    })
  }

  /** Whether anything waits for a later time. */
  get isAwaited(): boolean {
    return this.#due.length > 0
  }

  /** Lets so much time pass, and all that happens in it happen in its order. */
  async advance(ms: number): Promise<void> {
    const until = this.#now + ms
    await quiet()
    for (let next = this.#first(until); next !== undefined; next = this.#first(until)) {
      const due = next
      this.#due = this.#due.filter((one) => one !== due)
      this.#now = due.at
      due.run()
      await quiet()
    }
    this.#now = until
  }

  #first(until: number): Due | undefined {
    const [first] = this.#due.filter(({ at }) => at <= until).toSorted((a, b) => a.at - b.at)
    return first
  }
}
