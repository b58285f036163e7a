/** Chance that can be typed in again: the same seed gives the same numbers. */

export interface Chance {
  /** A whole number from `low` to `high`, both included. */
  between(low: number, high: number): number
  /** True in `share` of all cases. */
  happens(share: number): boolean
  pick<Value>(values: readonly [Value, ...Value[]]): Value
}

export function chanceOf(seed: number): Chance {
  const next = mulberry32(seed)
  const between = (low: number, high: number): number => low + Math.floor(next() * (high - low + 1))
  return {
    between,
    happens: (share) => next() < share,
    pick: (values) => values[between(0, values.length - 1)] ?? values[0],
  }
}

/** Tommy Ettinger's mulberry32: small, and good enough to place kills. */
function mulberry32(seed: number): () => number {
  let state = Math.imul(seed, 0x9e3779b1) | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
