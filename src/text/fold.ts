/** The one spelling in which texts are compared: NFKC, lower case, nothing invisible; with the way back to the original. */

const INVISIBLE = /\p{Default_Ignorable_Code_Point}+/gu

/**
 * The pieces of a text that fold independently of each other: a character with the marks that follow it, or a run of
 * Hangul letters, which compose into syllables.
 */
const PIECE =
  /(?:(?:[\u1100-\u11ff\u3131-\u318f\ua960-\ua97f\ud7b0-\ud7ff\uffa0-\uffdc]\p{Default_Ignorable_Code_Point}*)+|[^])[\p{M}\uff9e\uff9f\p{Default_Ignorable_Code_Point}]*/gu

const ASCII = /^[\0-\x7f]*$/

export function fold(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase()
  // The final sigma is lower case by its place in a word, which a search must not depend on.
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

/** Gives the same text as `fold`, and the offsets; slower, so meant for passages rather than for libraries. */
export function foldWithOffsets(original: string): Folded {
  const starts: number[] = []
  const ends: number[] = []
  let text = ''
  for (const match of original.matchAll(PIECE)) {
    const folded = fold(match[0])
    text += folded
    for (let unit = 0; unit < folded.length; unit++) {
      starts.push(match.index)
      ends.push(match.index + match[0].length)
    }
  }
  return { text, starts, ends }
}
