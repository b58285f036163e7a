/** The requests of one client that are being handled: in order per session, and no more at once than memory allows. */
import { SerialQueues } from '../../async/serial.ts'

/** Past these, nothing more is read from the client until some of its requests are done: a disk may hang. */
const MAX_UNFINISHED = { messages: 256, chars: 64 * 1024 * 1024 }

export class RequestScheduler {
  readonly #report: (error: unknown) => void
  /** By session. */
  readonly #queues = new SerialQueues<string>()
  /** Requests and notifications that are being handled. */
  readonly #open = new Set<Promise<void>>()
  /** The length of all of these. */
  #chars = 0
  #waitingForRoom: (() => void)[] = []

  constructor(report: (error: unknown) => void) {
    this.#report = report
  }

  /** Begins when everything scheduled before under the same key is done; without a key, soon. */
  inOrder(key: string | undefined, work: () => Promise<void>): Promise<void> {
    const done = key === undefined ? Promise.resolve().then(work) : this.#queues.run(key, work)
    const settled = done.catch((error: unknown) => this.#report(error))
    this.#open.add(settled)
    void settled.then(() => {
      this.#open.delete(settled)
      this.#wake()
    })
    return settled
  }

  /** Counts the characters of a message as held in memory until `work` is done. */
  weigh(chars: number, work: Promise<void>): void {
    this.#chars += chars
    void work.then(() => {
      this.#chars -= chars
      this.#wake()
    })
  }

  /** Resolves when more may be scheduled. No request that is being handled waits for another message of the same client. */
  async untilRoom(): Promise<void> {
    while (this.#isFull()) await new Promise<void>((resolve) => this.#waitingForRoom.push(resolve))
  }

  async settled(): Promise<void> {
    while (this.#open.size > 0) await Promise.all(this.#open)
  }

  #isFull(): boolean {
    return this.#open.size > MAX_UNFINISHED.messages || this.#chars > MAX_UNFINISHED.chars
  }

  #wake(): void {
    if (this.#isFull()) return
    for (const resolve of this.#waitingForRoom.splice(0)) resolve()
  }
}
