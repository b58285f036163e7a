/** The end of a stream of bytes, cut where a character begins. */

export class Tail {
  readonly #limit: number
  #kept: Buffer = Buffer.alloc(0)
  #cut = false

  constructor(limitBytes: number) {
    this.#limit = limitBytes
  }

  add(bytes: Buffer): void {
    this.#kept = Buffer.concat([this.#kept, bytes])
    if (this.#kept.length <= this.#limit) return
    this.#cut = true
    this.#kept = this.#kept.subarray(this.#kept.length - this.#limit)
  }

  text(): { readonly output: string; readonly truncated: boolean } {
    return {
      output: this.#kept.subarray(this.#cut ? startOfCharacter(this.#kept) : 0).toString('utf8'),
      truncated: this.#cut,
    }
  }
}

/** Bytes that continue a UTF-8 character begin with 10. */
function startOfCharacter(bytes: Buffer): number {
  let at = 0
  while (at < bytes.length && at < 4 && ((bytes[at] ?? 0) & 0xc0) === 0x80) at += 1
  return at
}
