/** English words by their stems, and identifiers by their parts: `setErrorHandlers` is `set`, `error`, `handler`. */
import { stemmer } from 'stemmer'
import { BREAK } from '../../../text/tokens.ts'

export interface Stem {
  readonly stem: string
  /** UTF-16 offsets into the text. */
  readonly start: number
  readonly end: number
  /** More than a joint of an identifier, or a space, stands between it and the one before. */
  readonly breakBefore: boolean
}

/** A run of capitals, a capitalised or lower-case word, or a number; only letters that the stemmer knows. */
const WORD_PART = /[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+/g
const MAX_JOINT_CHARS = 3
const MAX_PIECE_CHARS = 64

export function stemsOf(text: string): readonly Stem[] {
  const stems: Stem[] = []
  for (const { 0: piece, index } of text.matchAll(WORD_PART)) {
    const end = index + piece.length
    const breakBefore = index - (stems.at(-1)?.end ?? index) > MAX_JOINT_CHARS
    stems.push({ stem: stemOf(piece), start: index, end, breakBefore })
  }
  return stems
}

/** As a full-text column holds them. */
export function stemText(text: string): string {
  let words = ''
  let last = -1
  WORD_PART.lastIndex = 0
  for (let match = WORD_PART.exec(text); match !== null; match = WORD_PART.exec(text)) {
    if (last >= 0) words += match.index - last > MAX_JOINT_CHARS ? ` ${BREAK} ` : ' '
    words += stemOf(match[0])
    last = WORD_PART.lastIndex
  }
  return words
}

/** Text repeats its words, and stemming them takes longer than looking them up. */
const stemCache = new Map<string, string>()
const MAX_CACHED_STEMS = 100_000

function stemOf(piece: string): string {
  const before = stemCache.get(piece)
  if (before !== undefined) return before
  const word = piece.toLowerCase()
  const stem = word.length > MAX_PIECE_CHARS ? word : stemmer(word)
  if (stemCache.size >= MAX_CACHED_STEMS) stemCache.clear()
  stemCache.set(piece, stem)
  return stem
}
