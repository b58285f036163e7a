/** Text of agents and tools made fit for a terminal: nothing in it can move the cursor, and its width is known. */
import stringWidth from 'string-width'

/* oxlint-disable no-control-regex -- control characters are what this file is about */

/** Escape sequences: OSC, DCS, PM and APC with their text, CSI, and short ones. Node's `stripVTControlCharacters` leaves DCS, PM and APC in. */
const ESCAPES =
  /\u001b[\]PX^_][^\u0007\u001b\u009c]*(?:\u0007|\u001b\\|\u009c)|(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]|\u001b[ -/]*[0-~]/gu
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu
const LINE_ENDS = /\r\n?|[\u000b\u000c\u0085\u2028\u2029]/gu

/** Only text, tabs and newlines are left. */
export function clean(text: string): string {
  return text.replace(ESCAPES, '').replace(LINE_ENDS, '\n').replace(CONTROLS, '')
}

/** The text on one line, cut with an ellipsis where it is wider than `width`. */
export function oneLine(text: string, width = Infinity): string {
  return cut(clean(text).replace(/\s+/gu, ' ').trim(), width)
}

/** The end of the text on one line, with an ellipsis before it where it is wider than `width`. */
export function endOfLine(text: string, width: number): string {
  const line = oneLine(text)
  if (widthOf(line) <= width) return line
  let kept = ''
  let used = 1
  for (const grapheme of graphemesOf(line).toReversed()) {
    used += widthOf(grapheme)
    if (used > width) break
    kept = grapheme + kept
  }
  return `…${kept}`
}

/** Plain text without its end where it is wider than `width`. */
function cut(text: string, width: number): string {
  // No character is wider than two columns. Loading what measures widths takes longer than the rest of a short command.
  if (text.length * 2 <= width) return text
  let kept = ''
  let whole = 0
  for (const grapheme of graphemesIn(text)) {
    whole += widthOf(grapheme)
    if (whole > width) return `${kept.trimEnd()}…`
    if (whole < width) kept += grapheme
  }
  return text
}

/** Columns; colours take none. */
export function widthOf(text: string): number {
  if (ASCII.test(text)) return text.length
  if (text.length <= PIECE_LENGTH) return stringWidth(text)
  return graphemesOf(text).reduce((width, grapheme) => width + stringWidth(grapheme), 0)
}

const ASCII = /^[ -~]*$/u

/** Splits text into the characters that a user sees. */
export function graphemesOf(text: string): readonly string[] {
  return ASCII.test(text) ? [...text] : [...graphemesIn(text)]
}

/** Segmenting takes longer per character in a longer text, so texts are segmented in pieces. */
const PIECE_LENGTH = 256

function* graphemesIn(text: string): Generator<string> {
  for (let at = 0; at < text.length;) {
    const found = [...segments().segment(text.slice(at, at + PIECE_LENGTH))].map(({ segment }) => segment)
    // The last grapheme of a piece may continue in the next.
    const isEnd = at + PIECE_LENGTH >= text.length
    const whole = isEnd || found.length < 2 ? found : found.slice(0, -1)
    yield* whole
    at += whole.reduce((length, grapheme) => length + grapheme.length, 0)
  }
}

let known: Intl.Segmenter | undefined

function segments(): Intl.Segmenter {
  known ??= new Intl.Segmenter()
  return known
}
