/** Turns the bytes of a file into text, whatever common encoding they are in. */

const BYTE_ORDER_MARKS: readonly (readonly [encoding: string, mark: readonly number[]])[] = [
  ['utf-8', [0xef, 0xbb, 0xbf]],
  ['utf-16le', [0xff, 0xfe]],
  ['utf-16be', [0xfe, 0xff]],
]

/** Text is never far from its first zero byte if it has one; what has one is not text. */
const LOOKED_AT = 8192

/** Null for a binary file. Line ends come out as `\n`. */
export function decode(bytes: Uint8Array): string | null {
  const marked = BYTE_ORDER_MARKS.find(([, mark]) => mark.every((byte, i) => bytes[i] === byte))
  if (marked !== undefined) return lines(new TextDecoder(marked[0]).decode(bytes))
  if (bytes.subarray(0, LOOKED_AT).includes(0)) return null
  const text = strictly('utf-8', bytes) ?? strictly('gb18030', bytes) ?? new TextDecoder('windows-1252').decode(bytes)
  return lines(text)
}

function strictly(encoding: string, bytes: Uint8Array): string | null {
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes)
  } catch {
    // The bytes are not in this encoding; the caller tries the next.
    return null
  }
}

function lines(text: string): string {
  return text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text
}
