/**
 * Turns for opening MCP servers. To start a process stops this thread for milliseconds, and a new process wants a processor: many at
 * once would keep every other session waiting. Sessions take turns, so that one with many servers does not keep the servers of others back.
 */
import type { Clock } from '../../../ports/clock.ts'
import type { Signal } from '../../../ports/signal.ts'

/** So many servers may be on their way at once. */
const AT_ONCE = 8
/** One that has not answered by then waits for something other than a processor: the next one may begin. */
const LONGEST_MS = 500
/** Between two beginnings, for all others who need this thread. */
const PAUSE_MS = 10

interface Waiting {
  readonly begin: (over: () => void) => void
}

export class ConnectQueue {
  readonly #clock: Clock
  /** By session, in the order of their turns. */
  readonly #waiting = new Map<string, Waiting[]>()
  #open = 0
  #isPausing = false

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Resolves when a server of this session may be opened. Call what it resolves with when that has succeeded or failed. */
  async turn(session: string, signal: Signal): Promise<() => void> {
    return await new Promise((resolve, reject) => {
      const leave = (): void => {
        this.#remove(session, waiting)
        reject(signal.reason)
      }
      const waiting: Waiting = {
        begin(over) {
          signal.removeEventListener('abort', leave)
          resolve(over)
        },
      }
      if (signal.aborted) return reject(signal.reason)
      signal.addEventListener('abort', leave, { once: true })
      this.#waiting.set(session, [...(this.#waiting.get(session) ?? []), waiting])
      this.#next()
    })
  }

  #next(): void {
    const [first] = this.#waiting
    if (first === undefined || this.#isPausing || this.#open >= AT_ONCE) return
    const [session, [waiting, ...others]] = first
    this.#waiting.delete(session)
    if (others.length > 0) this.#waiting.set(session, others)
    waiting?.begin(this.#opened())
    this.#isPausing = true
    this.#clock.setTimer(PAUSE_MS, () => {
      this.#isPausing = false
      this.#next()
    })
  }

  #opened(): () => void {
    this.#open += 1
    let isOver = false
    const over = (): void => {
      timer.cancel()
      if (isOver) return
      isOver = true
      this.#open -= 1
      this.#next()
    }
    const timer = this.#clock.setTimer(LONGEST_MS, over)
    return over
  }

  #remove(session: string, gone: Waiting): void {
    const others = (this.#waiting.get(session) ?? []).filter((one) => one !== gone)
    if (others.length > 0) this.#waiting.set(session, others)
    else this.#waiting.delete(session)
  }
}
