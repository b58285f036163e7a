/** How many bytes of bodies are read at once: a body is in memory until it is whole, and clients may be slow. */

const OF_ALL = 256 * 1024 * 1024
const OF_ONE = 64 * 1024 * 1024

export class BodyBudget {
  readonly #byHolder = new Map<string, number>()
  #sum = 0

  /** Returns how to give the bytes back; undefined where the bodies of all clients, or of this one, would be too much. */
  take(holder: string, bytes: number): (() => void) | undefined {
    const own = (this.#byHolder.get(holder) ?? 0) + bytes
    if (this.#sum + bytes > OF_ALL || own > OF_ONE) return undefined
    this.#count(holder, bytes)
    return () => this.#count(holder, -bytes)
  }

  #count(holder: string, bytes: number): void {
    this.#sum += bytes
    const own = (this.#byHolder.get(holder) ?? 0) + bytes
    if (own > 0) this.#byHolder.set(holder, own)
    else this.#byHolder.delete(holder)
  }
}
