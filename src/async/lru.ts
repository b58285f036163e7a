/** A map that keeps the most recently used entries, and drops the others. */

export class LruMap<Key, Value> {
  readonly #limit: number
  /** In the order of their last use. */
  readonly #entries = new Map<Key, Value>()

  /** Keeps at most `limit` entries. */
  constructor(limit: number) {
    this.#limit = limit
  }

  /** Counts as a use. */
  get(key: Key): Value | undefined {
    const value = this.#entries.get(key)
    if (value !== undefined) this.set(key, value)
    return value
  }

  /** The value of `key`; made and kept if there is none. */
  getOrMake(key: Key, make: () => Value): Value {
    const known = this.get(key)
    if (known !== undefined) return known
    const made = make()
    this.set(key, made)
    return made
  }

  set(key: Key, value: Value): void {
    this.#entries.delete(key)
    this.#entries.set(key, value)
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= this.#limit) return
      this.#entries.delete(oldest)
    }
  }

  delete(key: Key): void {
    this.#entries.delete(key)
  }

  clear(): void {
    this.#entries.clear()
  }

  /** Leaves the order of use as it is. */
  values(): IterableIterator<Value> {
    return this.#entries.values()
  }
}
