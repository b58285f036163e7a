/** What a client has asked and is being seen to: what concerns one session in the order it was asked, and no more than is bounded. */

/** Past these a client is read no further until some of what it asked is done: a disk may hang, and memory is not a queue. */
const UNFINISHED = { messages: 256, chars: 64 * 1024 * 1024 }

export class RequestScheduler {
  readonly #report: (error: unknown) => void
  /** The last thing asked of each session. */
  readonly #last = new Map<string, Promise<void>>()
  /** Requests and notifications that are being seen to. */
  readonly #open = new Set<Promise<void>>()
  /** The length of all of these. */
  #chars = 0
  /** Those who wait for room. */
  #waiting: (() => void)[] = []

  constructor(report: (error: unknown) => void) {
    this.#report = report
  }

  /** Begins when all is done that was asked before under the same key; without a key, soon. */
  inOrder(key: string | undefined, work: () => Promise<void>): Promise<void> {
    const before = key === undefined ? undefined : this.#last.get(key)
    const settled = (before ?? Promise.resolve()).then(work).catch((error: unknown) => this.#report(error))
    this.#open.add(settled)
    if (key !== undefined) this.#last.set(key, settled)
    void settled.then(() => {
      this.#open.delete(settled)
      this.#wake()
      if (key !== undefined && this.#last.get(key) === settled) this.#last.delete(key)
    })
    return settled
  }

  /** What is held in memory until it is done. */
  weigh(chars: number, work: Promise<void>): void {
    this.#chars += chars
    void work.then(() => {
      this.#chars -= chars
      this.#wake()
    })
  }

  /** Resolves when more may be asked. Nothing that is being seen to waits for another message of the same client. */
  async room(): Promise<void> {
    while (this.#isFull()) await new Promise<void>((resolve) => this.#waiting.push(resolve))
  }

  #isFull(): boolean {
    return this.#open.size > UNFINISHED.messages || this.#chars > UNFINISHED.chars
  }

  #wake(): void {
    if (this.#isFull()) return
    for (const resolve of this.#waiting.splice(0)) resolve()
  }

  async settled(): Promise<void> {
    while (this.#open.size > 0) await Promise.all(this.#open)
  }
}
