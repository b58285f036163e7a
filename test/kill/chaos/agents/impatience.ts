/** People who see nothing happen for a while cancel the turn: how prompts to an agent that hangs come to an end. */
import type { Cast } from '../cast.ts'

/** Milliseconds. */
const PATIENCE = 1_500
const GLANCE = 100

export class Impatience {
  readonly #glance: ReturnType<typeof setInterval>
  #heard = 0
  #since = performance.now()

  constructor(cast: Cast) {
    this.#glance = setInterval(() => {
      const { heard } = cast
      if (heard !== this.#heard) {
        this.#heard = heard
        this.#since = performance.now()
      } else if (performance.now() - this.#since > PATIENCE) {
        this.#since = performance.now()
        cast.cancel()
      }
    }, GLANCE)
  }

  end(): void {
    clearInterval(this.#glance)
  }
}
