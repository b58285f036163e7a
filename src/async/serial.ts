/** Runs one piece of work at a time, in the order of the calls. A failure does not hold up the work behind it. */

export class SerialQueue {
  #last: Promise<unknown> = Promise.resolve()

  /** Starts `work` when all work before it has settled, and settles as it does. */
  run<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.#last.then(work)
    this.#last = result.catch(() => undefined)
    return result
  }

  /** Resolves when the work that was asked for until now has settled. */
  async settled(): Promise<void> {
    await this.#last
  }
}

/** One queue per key. A key that has no work takes no memory. */
export class SerialQueues<Key> {
  readonly #last = new Map<Key, Promise<unknown>>()

  /** Starts `work` when all work before it under the same key has settled, and settles as it does. */
  async run<Result>(key: Key, work: () => Promise<Result>): Promise<Result> {
    const result = (this.#last.get(key) ?? Promise.resolve()).then(work)
    const settled = result.catch(() => undefined)
    this.#last.set(key, settled)
    try {
      return await result
    } finally {
      if (this.#last.get(key) === settled) this.#last.delete(key)
    }
  }
}
