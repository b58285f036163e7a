/** Cuts a stream of bytes into lines of strict UTF-8, however the bytes arrive, up to a length that is worth reading. */

export type Line =
  | { readonly kind: 'line'; readonly text: string }
  | { readonly kind: 'too_long' }
  /** It was the longest of all unfinished lines when these held too much together; nothing comes after it. */
  | { readonly kind: 'cut_off'; readonly limit: number }
  | { readonly kind: 'not_utf8' }

const NEWLINE = 0x0a

export class LineCutter {
  readonly #limit: number
  #pieces: Uint8Array[] = []
  #length = 0
  /** The rest of a line that was too long is skipped up to its end. */
  #skipping = false

  constructor(limitBytes: number) {
    this.#limit = limitBytes
  }

  /** Bytes of the line that has not ended. */
  get unfinished(): number {
    return this.#length
  }

  /** Lets go of the line that has not ended. */
  drop(): void {
    this.#skipping = true
    this.#forget()
  }

  /** The lines that `bytes` completes; a trailing carriage return is not part of a line, and empty lines are none. */
  push(bytes: Uint8Array): readonly Line[] {
    const lines: Line[] = []
    let from = 0
    for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, from)) {
      this.#keep(bytes.subarray(from, end), lines)
      this.#finish(lines)
      from = end + 1
    }
    this.#keep(bytes.subarray(from), lines)
    return lines
  }

  /** The last line, if whoever wrote it closed without ending it. */
  end(): readonly Line[] {
    const lines: Line[] = []
    this.#finish(lines)
    return lines
  }

  #keep(piece: Uint8Array, lines: Line[]): void {
    if (this.#skipping || piece.length === 0) return
    this.#length += piece.length
    this.#pieces.push(piece)
    if (this.#length <= this.#limit) return
    this.#skipping = true
    this.#forget()
    lines.push({ kind: 'too_long' })
  }

  #finish(lines: Line[]): void {
    if (!this.#skipping) {
      const line = decode(this.#pieces, this.#length)
      if (line !== undefined) lines.push(line)
    }
    this.#skipping = false
    this.#forget()
  }

  #forget(): void {
    this.#pieces = []
    this.#length = 0
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false })

function decode(pieces: readonly Uint8Array[], length: number): Line | undefined {
  try {
    const text = utf8.decode(joined(pieces, length)).replace(/\r$/u, '')
    return text.trim() === '' ? undefined : { kind: 'line', text }
  } catch {
    // The decoder's only complaint is about the bytes; the sender is told which line it was by its place.
    return { kind: 'not_utf8' }
  }
}

function joined(pieces: readonly Uint8Array[], length: number): Uint8Array {
  const [only] = pieces
  if (pieces.length === 1 && only !== undefined) return only
  const whole = new Uint8Array(length)
  let at = 0
  for (const piece of pieces) {
    whole.set(piece, at)
    at += piece.length
  }
  return whole
}
