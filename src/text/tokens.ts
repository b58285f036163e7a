/** Cuts folded text into the tokens that search compares: words, and single characters where words are not spaced. */
import { fold } from './fold.ts'

export interface Token {
  readonly text: string
  /** UTF-16 offsets into the folded text. */
  readonly start: number
  readonly end: number
  /** A character of a script that is written without spaces. */
  readonly single: boolean
  /** Something stands between this token and the one before it that no phrase may cross. */
  readonly apart: boolean
}

/** Stands in the index for everything that a phrase may not cross. */
export const BREAK = '\u{e000}'

const RUN = /[\p{L}\p{N}\p{M}_]+/gu
const UNSPACED = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\u30fc]/u
const UNSPACED_OR_WORD =
  /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\u30fc]\p{M}*|(?:(?![\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\u30fc])[^])+/gu
const VISIBLE = /\S/
const PARAGRAPH_END = /\n\s*\n|\u2029/

export function* tokensOf(folded: string): Generator<Token> {
  let before: Token | undefined
  for (const piece of pieces(folded)) {
    const gap = before === undefined ? '' : folded.slice(before.end, piece.start)
    const apart = before !== undefined && gap !== '' && keepsApart(gap, before.single && piece.single)
    before = { ...piece, apart }
    yield before
  }
}

type Piece = Omit<Token, 'apart'>

function* pieces(folded: string): Generator<Piece> {
  for (const run of folded.matchAll(RUN)) {
    const [text] = run
    const start = run.index
    if (UNSPACED.test(text)) yield* mixed(text, start)
    else yield { text, start, end: start + text.length, single: false }
  }
}

function* mixed(run: string, offset: number): Generator<Piece> {
  for (const { 0: text, index } of run.matchAll(UNSPACED_OR_WORD)) {
    const start = offset + index
    yield { text, start, end: start + text.length, single: UNSPACED.test(text) }
  }
}

/**
 * Punctuation and the end of a paragraph keep apart. A space does so only between two unspaced characters, where nobody
 * writes one without meaning it: `软 RAID` is another way to write `软RAID`, and a line may be wrapped anywhere.
 */
function keepsApart(gap: string, bothSingle: boolean): boolean {
  return VISIBLE.test(gap) || PARAGRAPH_END.test(gap) || (bothSingle && !gap.includes('\n'))
}

const MARK = /\p{M}/gu

/**
 * A token as the index stores it. SQLite's tokenizer takes marks (accents that compose with nothing, the vowel signs of
 * Indic scripts) for separators; a private character in the place of each keeps words whole.
 */
export function stored(token: string): string {
  return token.replace(MARK, (mark) => String.fromCodePoint(0xf_0000 + ((mark.codePointAt(0) ?? 0) & 0xffff)))
}

/** The tokenizer of every full-text table that holds `indexText`. */
export const TOKENIZER = `unicode61 remove_diacritics 0 categories 'L* N* Co' tokenchars '_'`

/** A text as it goes into a full-text column: its tokens between spaces, with breaks. */
export function indexText(text: string): string {
  const words: string[] = []
  for (const token of tokensOf(fold(text))) {
    if (token.apart) words.push(BREAK)
    words.push(stored(token.text))
  }
  return words.join(' ')
}
