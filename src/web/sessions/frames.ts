/** Calls that are made once a frame, however often they are wanted; without frames, as in a tab behind others, a little later. */

const HIDDEN_MS = 250

export class OncePerFrame {
  readonly #run: () => void
  #isWanted = false

  constructor(run: () => void) {
    this.#run = run
  }

  want(): void {
    if (this.#isWanted) return
    this.#isWanted = true
    const run = (): void => {
      this.#isWanted = false
      this.#run()
    }
    if (document.visibilityState === 'visible') requestAnimationFrame(run)
    else setTimeout(run, HIDDEN_MS)
  }
}
