/** Where each row of a long list stands, and which of them must be in the document: measured heights, else a guess. Pure. */

export interface RowSpan {
  /** The first row, and the one after the last. */
  readonly from: number
  readonly to: number
}

/** Rows in the document at most. */
export const MAX_ROWS = 140
/** At the end. */
const MAX_END_ROWS = 40
/** A row that was never measured may be as low as a line. */
const LOWEST = 30

export class RowHeights {
  #keys: readonly string[] = []
  #indexes = new Map<string, number>()
  readonly #measured = new Map<string, number>()
  /** The top of each row and of what comes after the last; valid below `#valid`. */
  #tops: number[] = [0]
  #valid = 0
  readonly #guess: number

  constructor(guess = 80) {
    this.#guess = guess
  }

  get keys(): readonly string[] {
    return this.#keys
  }

  get total(): number {
    return this.topOf(this.#keys.length)
  }

  setKeys(keys: readonly string[]): void {
    const before = this.#keys
    let same = 0
    while (same < before.length && same < keys.length && before[same] === keys[same]) same += 1
    this.#keys = keys
    if (same < before.length) this.#indexes = new Map(keys.map((key, index) => [key, index]))
    else for (let index = same; index < keys.length; index += 1) this.#indexes.set(keys[index] ?? '', index)
    this.#valid = Math.min(this.#valid, same)
  }

  /** True when that is news. */
  measured(key: string, height: number): boolean {
    if (this.#measured.get(key) === height) return false
    this.#measured.set(key, height)
    const index = this.#indexes.get(key)
    if (index !== undefined) this.#valid = Math.min(this.#valid, index)
    return true
  }

  indexOf(key: string): number {
    return this.#indexes.get(key) ?? -1
  }

  heightOf(index: number): number {
    return this.#measured.get(this.#keys[index] ?? '') ?? this.#guess
  }

  topOf(index: number): number {
    for (; this.#valid < index; this.#valid += 1)
      this.#tops[this.#valid + 1] = (this.#tops[this.#valid] ?? 0) + this.heightOf(this.#valid)
    return this.#tops[index] ?? 0
  }

  /** The row at this height; the last one for what is below all. */
  at(y: number): number {
    let [low, high] = [0, Math.max(0, this.#keys.length - 1)]
    this.topOf(this.#keys.length)
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if (this.topOf(middle) <= y) low = middle
      else high = middle - 1
    }
    return low
  }

  /** The last rows: what is in view there, and a view and a half above it. */
  endSpan(view: number): RowSpan {
    const to = this.#keys.length
    let [from, first, height] = [to, to, 0]
    for (; from > 0 && to - from < MAX_END_ROWS && height < 2.5 * view; from -= 1) {
      height += this.#measured.get(this.#keys[from - 1] ?? '') ?? LOWEST
      if (height < view) first = from - 1
    }
    return { from: Math.max(0, Math.min(from, first - 3)), to }
  }

  /** The rows in view, and about one view more on both sides. */
  span(top: number, view: number): RowSpan {
    const count = this.#keys.length
    if (count === 0) return { from: 0, to: 0 }
    const first = this.at(Math.max(0, top))
    const last = this.at(Math.max(0, top + view))
    const from = Math.max(Math.min(this.at(Math.max(0, top - view)), first - 2), first - MAX_ROWS / 4, 0)
    const to = Math.min(Math.max(this.at(top + 2 * view), last + 2) + 1, from + MAX_ROWS, count)
    return { from: Math.max(0, Math.min(from, to - 1)), to }
  }
}
