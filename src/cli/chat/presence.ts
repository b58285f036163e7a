/**
 * The lines of a chat that say who joins and leaves a session. A change is shown only after a moment, because short
 * commands and lost connections come and go.
 */
import { after } from '../output/terminal/pace.ts'

/** How long a client must be connected, or away, before the chat prints a line about it. Milliseconds. */
const HOLDS = 1_500

export class Comings {
  readonly #say: (line: string) => void
  #known: readonly string[]
  #stop: (() => void) | undefined

  constructor(here: readonly string[], say: (line: string) => void) {
    this.#known = here
    this.#say = say
  }

  /** Called with the names of the other clients whenever they change. */
  are(here: readonly string[]): void {
    this.#stop?.()
    this.#stop = after(HOLDS, () => this.#tell(here))
  }

  /** The other clients are unknown, so nothing is shown about them until they are known. */
  unknown(): void {
    this.#stop?.()
  }

  #tell(here: readonly string[]): void {
    const [joined, left] = [without(here, this.#known), without(this.#known, here)]
    this.#known = here
    for (const name of joined) this.#say(`${name} joined`)
    for (const name of left) this.#say(`${name} left`)
  }
}

/** Two may have the same name. */
function without(names: readonly string[], others: readonly string[]): readonly string[] {
  const rest = [...others]
  return names.filter((name) => {
    const at = rest.indexOf(name)
    if (at >= 0) rest.splice(at, 1)
    return at < 0
  })
}
