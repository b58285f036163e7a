/** Cuts folded text into the tokens that search compares: words, and single characters where words are not spaced. */
import { fold } from './fold.ts'

export interface Token {
  readonly text: string
  /** UTF-16 offsets into the folded text. */
  readonly start: number
  readonly end: number
  /** A character of a script that is written without spaces. */
  readonly unspaced: boolean
  /** Punctuation or a paragraph end before this token, which no phrase may cross. */
  readonly breakBefore: boolean
}

/** Stands in the index for punctuation and paragraph ends, which no phrase may cross. */
export const BREAK = '\u{e000}'

/** The tokenizer of every full-text table that holds `indexText`. */
export const TOKENIZER = `unicode61 remove_diacritics 0 categories 'L* N* Co' tokenchars '_'`

/** A text as it goes into a full-text column: its tokens between spaces, with breaks. */
export function indexText(text: string): string {
  const folded = fold(text)
  if (MARK.test(folded)) return tokensOf(folded).map(markedToken).join(' ')
  const units = new Units()
  eachToken(folded, (start, end, traits) => {
    if (traits & BREAK_BIT) units.add(SPACE_UNIT).add(BREAK_UNIT)
    units.add(SPACE_UNIT)
    for (let at = start; at < end; at++) units.add(folded.charCodeAt(at))
  })
  return units.text().slice(1)
}

function markedToken({ text, breakBefore }: Token): string {
  return breakBefore ? `${BREAK} ${stored(text)}` : stored(text)
}

const SPACE_UNIT = 0x20
const BREAK_UNIT = BREAK.charCodeAt(0)
const MAX_CACHED_UNITS = 8_192

/** Texts of one UTF-16 unit, made once: creating so many short strings would cost more than everything else. */
class Units {
  readonly #units = new Uint16Array(MAX_CACHED_UNITS)
  #length = 0
  #text = ''

  add(unit: number): this {
    if (this.#length === MAX_CACHED_UNITS) this.#flush()
    this.#units[this.#length++] = unit
    return this
  }

  text(): string {
    this.#flush()
    return this.#text
  }

  #flush(): void {
    this.#text += String.fromCharCode.apply(null, this.#units.subarray(0, this.#length) as unknown as number[])
    this.#length = 0
  }
}

const MARK = /\p{M}/u
const MARKS = /\p{M}/gu

/**
 * A token as the index stores it. SQLite's tokenizer takes marks (accents that compose with nothing, the vowel signs of
 * Indic scripts) for separators; a private character in the place of each keeps words whole.
 */
export function stored(token: string): string {
  return token.replace(MARKS, (mark) => String.fromCodePoint(0xf_0000 + ((mark.codePointAt(0) ?? 0) & 0xffff)))
}

export function tokensOf(folded: string): readonly Token[] {
  const tokens: Token[] = []
  eachToken(folded, (start, end, traits) => {
    const [unspaced, breakBefore] = [(traits & UNSPACED_BIT) !== 0, (traits & BREAK_BIT) !== 0]
    tokens.push({ text: folded.slice(start, end), start, end, unspaced, breakBefore })
  })
  return tokens
}

const UNSPACED_BIT = 1
const BREAK_BIT = 2

/** `traits` are bits for the two properties: an object for each token would cost more than finding the token. */
type Tell = (start: number, end: number, traits: number) => void

function eachToken(folded: string, tell: Tell): void {
  let gap = NO_GAP
  let before = NO_TOKEN
  let end: number
  for (let start = 0; start < folded.length; start = end) {
    const kind = kindAt(folded, start)
    end = tokenEnd(folded, start, kind)
    if (kind < MARKING) gap = widened(gap, kind)
    else {
      tell(start, end, (kind === SINGLE ? UNSPACED_BIT : 0) | (isApart(gap, before, kind) ? BREAK_BIT : 0))
      before = kind
      gap = NO_GAP
    }
  }
}

/** The class of a character in a search. The first four stand between tokens. */
const SPACE = 1
const LINE_END = 2
const PARAGRAPH_END = 3
const PUNCTUATION = 4
const MARKING = 5
const WORD = 6
const SINGLE = 7
const NO_TOKEN = 0

/** A word continues with word characters and marks; a single character only with marks; in a gap each character counts. */
function tokenEnd(text: string, start: number, kind: number): number {
  let at = start + widthAt(text, start)
  if (kind < MARKING) return at
  for (; at < text.length; at += widthAt(text, at)) {
    const next = kindAt(text, at)
    if (next !== MARKING && (next !== WORD || kind === SINGLE)) return at
  }
  return at
}

const NO_GAP = 0
const SOME_SPACE = 1
const A_LINE_END = 2
const NO_WAY_OVER = 4

function widened(gap: number, kind: number): number {
  if (kind === SPACE) return gap | SOME_SPACE
  if (kind === LINE_END && (gap & A_LINE_END) === 0) return gap | A_LINE_END
  return gap | NO_WAY_OVER
}

/**
 * Punctuation and the end of a paragraph separate tokens. A space does so only between two unspaced characters, where it is
 * deliberate: `软 RAID` is another way to write `软RAID`, and a line may be wrapped anywhere.
 */
function isApart(gap: number, before: number, kind: number): boolean {
  if (before === NO_TOKEN || gap === NO_GAP) return false
  return (gap & NO_WAY_OVER) !== 0 || (gap === SOME_SPACE && before === SINGLE && kind === SINGLE)
}

/** Zero for a character that was not classified yet. */
const kinds = new Uint8Array(0x11_0000)

function kindAt(text: string, at: number): number {
  const code = text.codePointAt(at) ?? 0
  const known = kinds[code] ?? 0
  if (known !== 0) return known
  const kind = classify(String.fromCodePoint(code))
  kinds[code] = kind
  return kind
}

function widthAt(text: string, at: number): number {
  return (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1
}

function classify(character: string): number {
  if (character === '\n') return LINE_END
  if (character === '\u2029') return PARAGRAPH_END
  if (/[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\u30fc]/u.test(character) && /[\p{L}\p{N}]/u.test(character))
    return SINGLE
  if (/[\p{L}\p{N}_]/u.test(character)) return WORD
  if (/\p{M}/u.test(character)) return MARKING
  return /\s/.test(character) ? SPACE : PUNCTUATION
}
