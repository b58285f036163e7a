/** Lines of a client that wait for the connection of their session. */

/** Past these nothing more is read from the client. */
const MAX_QUEUED = { lines: 256, chars: 16 * 1024 * 1024 }

export class LineQueue implements AsyncIterable<Buffer> {
  #lines: string[] = []
  #chars = 0
  #hasEnded = false
  #wake: () => void = () => undefined
  #room: (() => void)[] = []

  push(line: string): void {
    this.#lines.push(line)
    this.#chars += line.length
    this.#wake()
  }

  /** Nothing follows. */
  end(): void {
    this.#hasEnded = true
    this.#wake()
    this.#makeRoom()
  }

  async untilRoom(): Promise<void> {
    while (this.#isFull()) await new Promise<void>((resolve) => this.#room.push(resolve))
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer> {
    for (;;) {
      const line = this.#lines.shift()
      if (line !== undefined) {
        this.#chars -= line.length
        this.#makeRoom()
        yield Buffer.from(`${line}\n`)
      } else if (this.#hasEnded) return
      else await new Promise<void>((resolve) => (this.#wake = resolve))
    }
  }

  #isFull(): boolean {
    return !this.#hasEnded && (this.#lines.length > MAX_QUEUED.lines || this.#chars > MAX_QUEUED.chars)
  }

  #makeRoom(): void {
    if (this.#isFull()) return
    for (const resolve of this.#room.splice(0)) resolve()
  }
}
