/** Newline framing: cuts a stream of bytes into lines of bounded length, however the bytes arrive. */

/** Bytes of one message. The server and the relay refuse longer ones alike. */
export const MAX_MESSAGE_BYTES = 32 * 1024 * 1024

/** Of a line that was longer than the limit only the beginning is kept: it says which request that was. */
export class TooLong {
  readonly beginning: Uint8Array

  constructor(beginning: Uint8Array) {
    this.beginning = beginning
  }
}

/** One line with its newline, or what is left of one that was too long. */
export type Frame = Uint8Array | TooLong

const BEGINNING_BYTES = 4096

const NEWLINE = 0x0a

export class LineFraming {
  readonly #limitBytes: number
  #pieces: Uint8Array[] = []
  #heldBytes = 0
  /** A line past the limit is skipped up to its newline. */
  #isSkipping = false

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes
  }

  /** Bytes of the line that has not ended yet. */
  get heldBytes(): number {
    return this.#heldBytes
  }

  /** The lines that `bytes` completes. A line that arrived in one piece is a view of `bytes`, not a copy. */
  push(bytes: Uint8Array): readonly Frame[] {
    const frames: Frame[] = []
    let from = 0
    for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, from)) {
      this.#hold(bytes.subarray(from, end + 1), frames)
      this.#endLine(frames)
      from = end + 1
    }
    this.#hold(bytes.subarray(from), frames)
    return frames
  }

  /** The last line of a sender that closed without a newline. */
  end(): readonly Frame[] {
    const frames: Frame[] = []
    this.#endLine(frames)
    return frames
  }

  /** Drops the unfinished line, and skips the rest of it when that arrives. */
  drop(): void {
    this.#isSkipping = true
    this.#free()
  }

  #hold(piece: Uint8Array, frames: Frame[]): void {
    if (this.#isSkipping || piece.length === 0) return
    this.#heldBytes += piece.length
    this.#pieces.push(piece)
    const newlineBytes = piece.at(-1) === NEWLINE ? 1 : 0
    if (this.#heldBytes - newlineBytes <= this.#limitBytes) return
    frames.push(new TooLong(beginningOf(this.#pieces)))
    this.drop()
  }

  #endLine(frames: Frame[]): void {
    if (this.#heldBytes > 0) frames.push(joinPieces(this.#pieces, this.#heldBytes))
    this.#isSkipping = false
    this.#free()
  }

  #free(): void {
    this.#pieces = []
    this.#heldBytes = 0
  }
}

const strictUtf8 = new TextDecoder('utf-8', { fatal: true })

/** Undefined for bytes that are not UTF-8. */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return strictUtf8.decode(bytes)
  } catch {
    // The decoder has no other complaint.
    return undefined
  }
}

/** A copy, so that the pieces can be freed. */
function beginningOf(pieces: readonly Uint8Array[]): Uint8Array {
  const few: Uint8Array[] = []
  let length = 0
  for (const piece of pieces) {
    if (length === BEGINNING_BYTES) break
    const part = piece.slice(0, BEGINNING_BYTES - length)
    few.push(part)
    length += part.length
  }
  return joinPieces(few, length)
}

function joinPieces(pieces: readonly Uint8Array[], length: number): Uint8Array {
  const [only] = pieces
  if (pieces.length === 1 && only !== undefined) return only
  const whole = new Uint8Array(length)
  let offset = 0
  for (const piece of pieces) {
    whole.set(piece, offset)
    offset += piece.length
  }
  return whole
}
