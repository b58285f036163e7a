/** The processes of external agents that may live at once: past the limit the one that has been idle for longest is ended. */
import { onAbort } from '../../../../async/abort.ts'
import type { Signal } from '../../../../ports/values/signal.ts'

/** An agent that has a process, or is about to have one. */
export interface LiveAgent {
  /** When it last had something to do, on the monotonic clock; undefined while it has. */
  readonly idleSince: number | undefined
  /** Ends its process; its next prompt starts another. */
  unload(): Promise<void>
}

export class LiveAgents {
  readonly #limit: number
  readonly #live = new Set<LiveAgent>()
  #waiting: (() => void)[] = []

  constructor(limit: number) {
    this.#limit = limit
  }

  /** Whether one more may have a process without another being ended for it. */
  get hasRoom(): boolean {
    return this.#live.size < this.#limit
  }

  /** Resolves when this agent may have a process. `wait` is called once if all others are at work. Throws when `signal` aborts. */
  async admit(agent: LiveAgent, signal: Signal, wait: () => void): Promise<void> {
    let hasWaited = false
    while (!this.#live.has(agent) && this.#live.size >= this.#limit) {
      const idle = this.#longestIdle()
      if (idle !== undefined) {
        this.#live.delete(idle)
        await idle.unload()
        continue
      }
      if (!hasWaited) wait()
      hasWaited = true
      await this.#change(signal)
    }
    this.#live.add(agent)
  }

  /** Its process has ended. */
  left(agent: LiveAgent): void {
    this.#live.delete(agent)
    this.changed()
  }

  /** One of them has nothing more to do. */
  changed(): void {
    for (const look of this.#waiting.splice(0)) look()
  }

  #longestIdle(): LiveAgent | undefined {
    const idle = [...this.#live].filter(({ idleSince }) => idleSince !== undefined)
    return idle.toSorted((one, other) => (one.idleSince ?? 0) - (other.idleSince ?? 0))[0]
  }

  #change(signal: Signal): Promise<void> {
    return new Promise((resolve, reject) => {
      const stopListening = onAbort(signal, () => reject(new Error('it was cancelled')))
      this.#waiting.push(() => {
        stopListening()
        resolve()
      })
    })
  }
}
