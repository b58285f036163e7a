/** Requests that we put to the client: numbered so that an answer meant for an earlier server is never taken for ours. */
import type { RequestId } from './protocol.ts'

export interface Reply {
  readonly result: unknown
  readonly failed: boolean
  /** What the client says of its failure, in one line. */
  readonly reason?: string | undefined
}

export class PendingRequests {
  readonly #boot: string
  readonly #open = new Map<RequestId, (reply: Reply) => void>()
  #count = 0

  constructor(boot: string) {
    this.#boot = boot
  }

  /** An id for the next request; `answered` is called at most once. */
  open(answered: (reply: Reply) => void): string {
    this.#count += 1
    const id = `${this.#boot}-${this.#count}`
    this.#open.set(id, answered)
    return id
  }

  /** False when nobody waits for it: a late answer to something withdrawn is no error. */
  settle(id: RequestId, reply: Reply): boolean {
    const answered = this.#open.get(id)
    this.#open.delete(id)
    answered?.(reply)
    return answered !== undefined
  }

  /** The answer is no longer wanted; false when it came before. */
  withdraw(id: RequestId): boolean {
    return this.#open.delete(id)
  }
}
