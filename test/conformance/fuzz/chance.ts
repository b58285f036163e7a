/** Chance that can be typed in again: the same seed makes the same inputs. */

export class Chance {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  /** From 0 up to, but not with, 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }

  below(limit: number): number {
    return Math.floor(this.next() * limit)
  }

  /** Once in so many. */
  oneIn(times: number): boolean {
    return this.below(times) === 0
  }

  pick<Value>(from: readonly [Value, ...Value[]]): Value {
    return from[this.below(from.length)] ?? from[0]
  }
}

/** The seed of one wave of a run, so that it can be played alone. */
export function seedOf(seed: number, wave: number): number {
  return (Math.imul(seed + 1, 2_654_435_761) ^ Math.imul(wave + 1, 40_503)) >>> 0
}
