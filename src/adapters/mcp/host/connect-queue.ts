/**
 * Limits how many MCP servers are started at once: starting a process blocks this thread for milliseconds, and each new process needs
 * a processor. Sessions take turns, so that a session with many servers does not delay the servers of others.
 */
import type { Clock } from '../../../ports/clock.ts'
import type { Signal } from '../../../ports/values/signal.ts'

/** Servers that may start at once. */
const MAX_STARTING = 8
/** A server that is not ready by then waits for something other than the processor: the next one may start. */
const MAX_TURN_MS = 500
/** Between two starts, for other work of this thread. */
const PAUSE_MS = 10

interface QueuedConnect {
  readonly begin: (over: () => void) => void
}

export class ConnectQueue {
  readonly #clock: Clock
  /** By session, in the order of their turns. */
  readonly #waiting = new Map<string, QueuedConnect[]>()
  #open = 0
  #isPausing = false

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Resolves when a server of this session may start, with a function to call when the start has succeeded or failed. */
  async turn(session: string, signal: Signal): Promise<() => void> {
    return await new Promise((resolve, reject) => {
      const leave = (): void => {
        this.#remove(session, waiting)
        reject(signal.reason)
      }
      const waiting: QueuedConnect = {
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
    if (first === undefined || this.#isPausing || this.#open >= MAX_STARTING) return
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
    const timer = this.#clock.setTimer(MAX_TURN_MS, over)
    return over
  }

  #remove(session: string, gone: QueuedConnect): void {
    const others = (this.#waiting.get(session) ?? []).filter((one) => one !== gone)
    if (others.length > 0) this.#waiting.set(session, others)
    else this.#waiting.delete(session)
  }
}
