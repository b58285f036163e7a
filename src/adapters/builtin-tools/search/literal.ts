/** A piece of text that stands in whatever a pattern matches, so that files without it need not be opened. */

const SHORTEST = 3

/** Undefined where no such piece is certain. Letters, digits and `_` only: they mean the same to everybody. */
export function literalIn(pattern: string, isLiteral: boolean): string | undefined {
  const pieces = isLiteral ? pattern.split(/\W+/u) : certainPieces(pattern)
  const longest = pieces.reduce((best, piece) => (piece.length > best.length ? piece : best), '')
  return longest.length >= SHORTEST ? longest : undefined
}

/** Where there is a choice anywhere, or a group, nothing is certain that can be told easily. */
function certainPieces(pattern: string): readonly string[] {
  if (/[|()]/u.test(pattern)) return []
  const plain = pattern
    .replaceAll(/\\(?:u\{[^}]*\}|u[\da-fA-F]{4}|x[\da-fA-F]{2}|c[A-Za-z]|[pP]\{[^}]*\}|k<[^>]*>|\d+|.)/gu, ' ')
    .replaceAll(/\[[^\]]*\]/gu, ' ')
  // What may be left out, with what says so.
  return plain.replaceAll(/.(?:[*?]|\{[^}]*\})/gu, ' ').split(/\W+/u)
}
