/** Limits how many invalid keys and tokens may be tried: for each address, and for all together. */
import { LruMap } from '../async/lru.ts'

const WINDOW_MS = 60_000
const MOST_OF_ONE = 10
const MOST_OF_ALL = 200
const MOST_ADDRESSES = 10_000

interface Count {
  wrong: number
  readonly since: number
}

export class Attempts {
  readonly #now: () => number
  readonly #counts = new LruMap<string, Count>(MOST_ADDRESSES)
  #all: Count

  /** `now` in milliseconds, of a clock that never goes back. */
  constructor(now: () => number) {
    this.#now = now
    this.#all = { wrong: 0, since: now() }
  }

  /** Seconds to wait before another key is looked at; 0: none. */
  waitFor(address: string): number {
    return Math.max(this.#left(this.#all, MOST_OF_ALL), this.#left(this.#counts.get(network(address)), MOST_OF_ONE))
  }

  wrong(address: string): void {
    const name = network(address)
    this.#all = this.#current(this.#all)
    this.#all.wrong += 1
    const count = this.#current(this.#counts.get(name))
    count.wrong += 1
    this.#counts.set(name, count)
  }

  #current(count: Count | undefined): Count {
    return count === undefined || this.#isOver(count) ? { wrong: 0, since: this.#now() } : count
  }

  #left(count: Count | undefined, most: number): number {
    if (count === undefined || this.#isOver(count) || count.wrong < most) return 0
    return Math.ceil((count.since + WINDOW_MS - this.#now()) / 1_000)
  }

  #isOver({ since }: Count): boolean {
    return this.#now() >= since + WINDOW_MS
  }
}

/** A client with one IPv6 address has billions in the same network. */
function network(address: string): string {
  const plain = address.replace(/^::ffff:(?=\d+\.)/, '')
  return plain.includes(':') ? plain.split(':').slice(0, 4).join(':') : plain
}
