/** Makes a long text shorter, between whole characters, and says how much of it there was. */

/** `1234567` as `1,234,567`. */
export function formatCount(count: number): string {
  return count.toLocaleString('en-US')
}

/** The offset, or the one before it where it would cut a surrogate pair in two. */
export function characterBoundary(text: string, at: number): number {
  return /[\uDC00-\uDFFF]/u.test(text.charAt(at)) && at > 0 ? at - 1 : at
}

/** Room for the note between beginning and end, so that the whole stays within its limit. */
const NOTE_CHARS = 400
/** A shortened text shows more of its beginning than of its end. */
const HEAD_SHARE = 0.6

/**
 * The beginning and the end, at lines where there are any near, and between them what `note` makes of the number of characters that
 * are left out and of the offset where they begin.
 */
export function shortenMiddle(text: string, limit: number, note: (left: number, from: number) => string): string {
  if (text.length <= limit) return text
  const room = limit - NOTE_CHARS
  const head = endOfLine(text, characterBoundary(text, Math.floor(room * HEAD_SHARE)))
  const tail = startOfLine(text, characterBoundary(text, text.length - Math.floor(room * (1 - HEAD_SHARE))))
  return `${text.slice(0, head)}\n${note(tail - head, head)}\n${text.slice(tail)}`
}

/** How far, in characters, a line may begin or end from where the text would be cut. */
const NEAR = 500

function endOfLine(text: string, at: number): number {
  const end = text.lastIndexOf('\n', at)
  return end >= 0 && end > at - NEAR ? end : at
}

function startOfLine(text: string, at: number): number {
  const start = text.indexOf('\n', at) + 1
  return start > 0 && start < at + NEAR ? start : at
}
