/** Cuts a text that is too long for one passage, so that what stands at a cut is found all the same. */

/** Characters. A message is one passage up to here, so that its words are found together. */
const LONGEST_PASSAGE = 32_000
/** Characters that the next piece repeats of the one before, for phrases that stand across the cut. */
const OVERLAP = 200

export interface Piece {
  readonly text: string
  /** How many characters at its beginning are the end of the piece before. */
  readonly repeats: number
}

/** At least one piece; all but the last are as long as they may be. */
export function piecesOf(text: string): readonly Piece[] {
  const pieces: Piece[] = []
  let start = 0
  let repeats = 0
  while (text.length - start > LONGEST_PASSAGE) {
    const end = beforeWord(text, start + LONGEST_PASSAGE)
    pieces.push({ text: text.slice(start, end), repeats })
    start = beforeWord(text, end - OVERLAP)
    repeats = end - start
  }
  pieces.push({ text: text.slice(start), repeats })
  return pieces
}

export function joinPieces(pieces: readonly Piece[]): string {
  return pieces.map(({ text, repeats }) => text.slice(repeats)).join('')
}

/** The last place up to `at` where a word may begin; `at` itself in a text that has none near. */
function beforeWord(text: string, at: number): number {
  for (let place = at; place > at - OVERLAP; place -= 1) if (/\s/u.test(text.charAt(place - 1))) return place
  const unit = text.charCodeAt(at)
  const isHalf = unit >= 0xdc00 && unit < 0xe000
  return isHalf ? at - 1 : at
}
