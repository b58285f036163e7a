/**
 * Limits how many bytes of incomplete messages are in memory at once: bodies of requests and unfinished messages of
 * WebSockets alike, because clients may be slow.
 */

const LIMITS = { ofAll: 256 * 1024 * 1024, ofOne: 64 * 1024 * 1024 }

export class BodyBudget {
  readonly #limits: typeof LIMITS
  readonly #byHolder = new Map<string, number>()
  #sum = 0

  constructor(limits = LIMITS) {
    this.#limits = limits
  }

  /** Returns how to give the bytes back; undefined where the bodies of all clients, or of this one, would be too much. */
  take(holder: string, bytes: number): (() => void) | undefined {
    const share = this.shareOf(holder)
    if (!share.set(bytes)) return undefined
    return () => void share.set(0)
  }

  /** For a connection whose bytes come and go. */
  shareOf(holder: string): BodyShare {
    const { ofAll, ofOne } = this.#limits
    let held = 0
    const set = (bytes: number): boolean => {
      const more = bytes - held
      const own = (this.#byHolder.get(holder) ?? 0) + more
      if (more > 0 && (this.#sum + more > ofAll || own > ofOne)) return false
      held = bytes
      this.#sum += more
      if (own > 0) this.#byHolder.set(holder, own)
      else this.#byHolder.delete(holder)
      return true
    }
    return { set }
  }
}

/** The bytes that one connection holds. */
export interface BodyShare {
  /** False where that would be too much; then nothing has changed. */
  set(bytes: number): boolean
}
