/** A limit on what many connections hold together: past it, the one that holds most is cut off. */

export interface Holder {
  /** What it holds now. */
  bytes(): number
  /** Holds nothing any more when this returns. */
  cutOff(): void
}

export class SharedLimit {
  readonly limit: number
  /** As each was when it last told. */
  readonly #held = new Map<Holder, number>()
  #total = 0

  constructor(limitBytes: number) {
    this.limit = limitBytes
  }

  /** It holds another amount than before; to be told at least whenever that grows. */
  changed(holder: Holder): void {
    this.#note(holder)
    while (this.#total > this.limit) this.#relieve()
  }

  /** Some may hold less than when they last told. */
  #relieve(): void {
    for (const holder of this.#held.keys()) this.#note(holder)
    if (this.#total <= this.limit) return
    const [largest] = [...this.#held].reduce((most, one) => (one[1] > most[1] ? one : most))
    largest.cutOff()
    this.#note(largest)
  }

  #note(holder: Holder): void {
    const bytes = holder.bytes()
    this.#total += bytes - (this.#held.get(holder) ?? 0)
    if (bytes === 0) this.#held.delete(holder)
    else this.#held.set(holder, bytes)
  }
}
