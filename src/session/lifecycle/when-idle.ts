/** Whoever waits until nothing runs in a session any more. */

export class WhenIdle {
  readonly #isIdle: () => boolean
  #waiting: (() => void)[] = []

  constructor(isIdle: () => boolean) {
    this.#isIdle = isIdle
  }

  async wait(): Promise<void> {
    while (!this.#isIdle()) await new Promise<void>((resolve) => this.#waiting.push(resolve))
  }

  /** Something has changed. */
  look(): void {
    if (!this.#isIdle()) return
    for (const resume of this.#waiting.splice(0)) resume()
  }
}
