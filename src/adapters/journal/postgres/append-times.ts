/** How long the last appends of this process took until they were acknowledged. */

/** So many are remembered. */
const REMEMBERED = 1_000

/** Milliseconds. */
export interface AppendTimes {
  readonly p50: number
  readonly p99: number
}

export class RecentTimes {
  readonly #times: number[] = []
  #next = 0

  add(ms: number): void {
    this.#times[this.#next] = ms
    this.#next = (this.#next + 1) % REMEMBERED
  }

  get times(): readonly number[] {
    return this.#times
  }
}

/** Undefined while there are none. */
export function appendTimesOf(times: readonly number[]): AppendTimes | undefined {
  const sorted = times.toSorted((left, right) => left - right)
  const at = (share: number): number => Math.round((sorted[Math.floor(share * (sorted.length - 1))] ?? 0) * 10) / 10
  return sorted.length === 0 ? undefined : { p50: at(0.5), p99: at(0.99) }
}
