/** The normal form in which texts are compared (NFKC, lower case, nothing invisible), with offsets back into the original. */

const INVISIBLE = /\p{Default_Ignorable_Code_Point}+/gu

/**
 * The pieces of a text that fold independently of each other: a character with the marks that follow it, or a run of
 * Hangul letters, which compose into syllables.
 */
const COMPOSED_CHARACTER =
  /(?:(?:[\u1100-\u11ff\u3131-\u318f\ua960-\ua97f\ud7b0-\ud7ff\uffa0-\uffdc]\p{Default_Ignorable_Code_Point}*)+|[^])[\p{M}\uff9e\uff9f\p{Default_Ignorable_Code_Point}]*/uy

const ASCII = /^[\0-\x7f]*$/

export function fold(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase()
  // The lower case of a final sigma depends on its place in the word; a search must not.
  return text.replace(INVISIBLE, '').normalize('NFKC').toLowerCase().replaceAll('ς', 'σ')
}

/** A folded text that remembers where each of its UTF-16 units came from. */
export interface Folded {
  readonly text: string
  /** The original offset at which the piece behind unit `i` starts. */
  readonly starts: readonly number[]
  /** The original offset at which the piece behind unit `i` ends. */
  readonly ends: readonly number[]
}

/** A run of characters that each fold to one character: themselves, or their lower case. */
const PLAIN = /[\0-\x7f\u3400-\u4dbf\u4e00-\u9fff]+(?![\p{M}\uff9e\uff9f\p{Default_Ignorable_Code_Point}])/uy

/** The same text as `fold`, with offsets. Slower, so meant for passages rather than whole collections. */
export function foldWithOffsets(original: string): Folded {
  const starts: number[] = []
  const ends: number[] = []
  let text = ''
  for (let at = 0; at < original.length;) {
    const plain = matchAt(PLAIN, original, at)
    const piece = plain ?? matchAt(COMPOSED_CHARACTER, original, at) ?? ''
    const folded = plain?.toLowerCase() ?? fold(piece)
    text += folded
    for (let unit = 0; unit < folded.length; unit++) {
      starts.push(plain === undefined ? at : at + unit)
      ends.push(plain === undefined ? at + piece.length : at + unit + 1)
    }
    at += piece.length
  }
  return { text, starts, ends }
}

function matchAt(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at
  return pattern.exec(text)?.[0]
}
