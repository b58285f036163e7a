/** Requests that one side has sent and whose responses it still expects. Used by the edge, the relay, the client and `server/admin`. */
import type { RequestId, Response } from './json-rpc.ts'

/** `Waiter` is what the sender keeps until the response comes: by default the function that handles it. */
export class PendingRequests<Waiter = (response: Response) => void> {
  readonly #prefix: string
  readonly #open = new Map<RequestId, Waiter>()
  #count = 0

  /** Ids of requests begin with `prefix`, so that a response meant for an earlier process is never taken for ours. */
  constructor(prefix: string) {
    this.#prefix = prefix
  }

  get isEmpty(): boolean {
    return this.#open.size === 0
  }

  /** The id for a new request. */
  open(waiter: Waiter): string {
    this.#count += 1
    const id = `${this.#prefix}${this.#count}`
    this.#open.set(id, waiter)
    return id
  }

  /** Expects the response to a request whose id the caller has chosen. */
  expect(id: RequestId, waiter: Waiter): void {
    this.#open.set(id, waiter)
  }

  /** Removes and returns what waits for this response; undefined when it came before, or was withdrawn. */
  take(id: RequestId): Waiter | undefined {
    const waiter = this.#open.get(id)
    this.#open.delete(id)
    return waiter
  }

  /** The response is no longer wanted; false when it came before. */
  withdraw(id: RequestId): boolean {
    return this.#open.delete(id)
  }

  /** The connection is gone: removes and returns everything that still waits. */
  takeAll(): readonly Waiter[] {
    const waiters = [...this.#open.values()]
    this.#open.clear()
    return waiters
  }
}
