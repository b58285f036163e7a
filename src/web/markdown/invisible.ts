/** Characters that one cannot see, or that turn the order of others around: shown as marks where a reader must not be deceived. */

/**
 * First and last code of: control characters besides tab and newline, soft hyphen and other fillers, zero width, bidirectional
 * controls, variation selectors for text, byte order marks, lone surrogates, and the tags that hide whole sentences.
 */
const UNSEEN: readonly (readonly [number, number])[] = [
  [0x00, 0x08],
  [0x0b, 0x1f],
  [0x7f, 0x9f],
  [0xad, 0xad],
  [0x34f, 0x34f],
  [0x61c, 0x61c],
  [0x115f, 0x1160],
  [0x17b4, 0x17b5],
  [0x180b, 0x180f],
  // Joiners between the parts of an emoji are seen by what they do.
  [0x200b, 0x200c],
  [0x200e, 0x200f],
  [0x2028, 0x202e],
  [0x2060, 0x206f],
  [0x3164, 0x3164],
  [0xd800, 0xdfff],
  [0xfe00, 0xfe0e],
  [0xfeff, 0xfeff],
  [0xffa0, 0xffa0],
  [0xfff0, 0xfffb],
  [0xe0000, 0xe0fff],
]
const LAST_ASCII_CONTROL = 0x1f

export type Piece = string | { readonly unseen: string }

/** The text in pieces: as it is, and the names of what cannot be seen, such as `U+202E`. */
export function piecesOf(text: string): readonly Piece[] {
  const pieces: Piece[] = []
  let end = 0
  let at = 0
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0
    if (isUnseen(code)) {
      if (at > end) pieces.push(text.slice(end, at))
      pieces.push({ unseen: nameOf(code) })
      end = at + character.length
    }
    at += character.length
  }
  if (end < text.length) pieces.push(text.slice(end))
  return pieces
}

function isUnseen(code: number): boolean {
  // Nearly all text ends here.
  if (code > LAST_ASCII_CONTROL && code < 0x7f) return false
  return UNSEEN.some(([first, last]) => code >= first && code <= last)
}

/** One text, for titles and labels. */
export function spelledOut(text: string): string {
  return piecesOf(text)
    .map((piece) => (typeof piece === 'string' ? piece : `⟨${piece.unseen}⟩`))
    .join('')
}

function nameOf(code: number): string {
  return `U+${code.toString(16).toUpperCase().padStart(4, '0')}`
}
