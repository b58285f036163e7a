/**
 * Calls that are made once a frame, however often they are wanted, and not so often that drawing takes most of the page's time: a
 * slow device draws a fast stream in larger steps, and its keys are shown at once all the same.
 */

/** Without frames, as in a tab behind others. */
const HIDDEN_MS = 250
/** After a frame the page rests from drawing this many times as long as it took, so that drawing takes a fifth of its time. */
const REST = 4
/** Larger steps would look as if the stream stood still. */
const MAX_REST_MS = 200

export interface FrameClock {
  now(): number
  /** Runs it in the next frame. */
  atFrame(run: () => void): void
  after(ms: number, run: () => void): void
  isVisible(): boolean
}

const ofPage: FrameClock = {
  now: () => performance.now(),
  atFrame: (run) => requestAnimationFrame(run),
  after: (ms, run) => setTimeout(run, ms),
  isVisible: () => document.visibilityState === 'visible',
}

export class OncePerFrame {
  readonly #run: () => void
  readonly #clock: FrameClock
  #isWanted = false
  /** Layout and paint of its frame are not over. */
  #isDrawing = false
  #restsUntil = 0

  constructor(run: () => void, clock: FrameClock = ofPage) {
    this.#run = run
    this.#clock = clock
  }

  want(): void {
    if (this.#isWanted) return
    this.#isWanted = true
    if (!this.#isDrawing) this.#plan()
  }

  #plan(): void {
    const clock = this.#clock
    const rest = this.#restsUntil - clock.now()
    if (!clock.isVisible()) clock.after(HIDDEN_MS, () => this.#draw())
    else if (rest > 0) clock.after(rest, () => clock.atFrame(() => this.#draw()))
    else clock.atFrame(() => this.#draw())
  }

  #draw(): void {
    const began = this.#clock.now()
    this.#isWanted = false
    this.#isDrawing = true
    try {
      this.#run()
    } finally {
      // A timer comes after layout and paint of the frame that it was set in.
      this.#clock.after(0, () => this.#drawn(began))
    }
  }

  #drawn(began: number): void {
    const now = this.#clock.now()
    this.#isDrawing = false
    this.#restsUntil = now + Math.min(MAX_REST_MS, REST * (now - began))
    if (this.#isWanted) this.#plan()
  }
}
