/** Tries again until the node that has a session is reached, and connects to it; which node that is: `session-nodes.ts`. */
import type { Duplex } from 'node:stream'
import { fail, isParleyError } from '../../../errors/parley-error.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { ServerAccess } from '../../../relay/connector.ts'

/** Longer than it takes to count out a node that has died, and to claim what it had. */
const DIAL_TIMEOUT_MS = 30_000
const PAUSE_MS = 100

export class SessionDialer implements ServerAccess {
  readonly #open: () => Promise<Duplex>
  readonly #clock: Pick<Clock, 'monotonicNow' | 'sleep'>
  /** Opened while it was waited for. */
  #next: Duplex | undefined
  #stream: Duplex | undefined
  #isOver = false

  /** `open` makes one attempt. */
  constructor(open: () => Promise<Duplex>, clock: Pick<Clock, 'monotonicNow' | 'sleep'>) {
    this.#open = open
    this.#clock = clock
  }

  async dial(): Promise<Duplex> {
    if (this.#isOver) return fail('SERVER_STOPPING', {})
    const stream = this.#next ?? (await this.#open())
    this.#next = undefined
    this.#stream = stream
    if (this.#isOver) this.end()
    return stream
  }

  async start(): Promise<void> {
    const deadline = this.#clock.monotonicNow() + DIAL_TIMEOUT_MS
    while (!this.#isOver) {
      try {
        this.#next = await this.#open()
        if (this.#isOver) this.end()
        return
      } catch (error) {
        const isForGood = isParleyError(error) && !error.retryable
        if (isForGood || this.#clock.monotonicNow() >= deadline) throw error
      }
      await this.#clock.sleep(PAUSE_MS)
    }
  }

  pause(ms: number): Promise<void> {
    return this.#clock.sleep(ms)
  }

  /** The connection is cut, and no other one is made. */
  end(): void {
    this.#isOver = true
    this.#next?.destroy()
    this.#stream?.destroy()
  }
}
