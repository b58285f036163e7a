/** Whole lines out of bytes: what has no end yet is held back, so that neither side ever sees half a message. */

const NEWLINE = 0x0a
export const NOTHING = Buffer.alloc(0)

/** Bytes; as the server has it. */
export const LONGEST_LINE = 32 * 1024 * 1024

export class LineCutter {
  readonly #limit: number
  #held: Buffer[] = []
  #length = 0
  /** The rest of a line that was too long is skipped up to its end. */
  #skips = false

  constructor(limit = Number.POSITIVE_INFINITY) {
    this.#limit = limit
  }

  /** The lines that `bytes` completes, newlines and all, in one piece. */
  push(bytes: Buffer): Buffer {
    const end = bytes.lastIndexOf(NEWLINE) + 1
    if (end === 0) return this.#hold(bytes)
    const from = this.#skips ? bytes.indexOf(NEWLINE) + 1 : 0
    this.#skips = false
    const whole = this.#joinedWith(bytes.subarray(from, end))
    this.#hold(bytes.subarray(end))
    return whole
  }

  /** True once for a line that is longer than the limit; nothing of it is held any longer. */
  refuse(): boolean {
    if (this.#length <= this.#limit) return false
    this.rest()
    this.#skips = true
    return true
  }

  /** What came after the last newline; it is held no longer. */
  rest(): Buffer {
    return this.#joinedWith(NOTHING)
  }

  #hold(bytes: Buffer): Buffer {
    if (this.#skips || bytes.length === 0) return NOTHING
    this.#held.push(bytes)
    this.#length += bytes.length
    return NOTHING
  }

  #joinedWith(bytes: Buffer): Buffer {
    if (this.#held.length === 0) return bytes
    const joined = Buffer.concat([...this.#held, bytes])
    this.#held = []
    this.#length = 0
    return joined
  }
}

/** Each line with its newline. */
export function* linesOf(whole: Buffer): Generator<Buffer> {
  for (let from = 0; from < whole.length;) {
    const end = whole.indexOf(NEWLINE, from) + 1
    yield whole.subarray(from, end)
    from = end
  }
}
