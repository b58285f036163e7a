/** Bytes as text and back. A file is written in the encoding in which it was read. */
import { refuseFile } from './resolve-in-roots.ts'

export type Encoding = 'utf-8' | 'utf-16le' | 'utf-16be' | 'latin-1'

export interface Decoded {
  readonly text: string
  readonly encoding: Encoding
  /** It begins with a mark of its byte order, which is no part of the text. */
  readonly hasBom: boolean
}

/** Where nothing else is known. */
export const UTF_8 = { encoding: 'utf-8', hasBom: false } as const

/** Undefined for what is no text. */
export function decode(bytes: Buffer): Decoded | undefined {
  const marked = MARKS.find(({ mark }) => bytes.subarray(0, mark.length).equals(mark))
  if (marked !== undefined) {
    const text = textIn(bytes.subarray(marked.mark.length), marked.encoding)
    return text === undefined || text.includes('\0') ? undefined : { text, encoding: marked.encoding, hasBom: true }
  }
  if (isBinary(bytes)) return unmarkedUtf16(bytes)
  const text = textIn(bytes, 'utf-8')
  if (text !== undefined) return { text, ...UTF_8 }
  return { text: bytes.toString('latin1'), encoding: 'latin-1', hasBom: false }
}

/** Text to search and to show, in more encodings than can be written back, with `\n` at the ends of lines. Null for binary data. */
export function readableText(bytes: Uint8Array): string | null {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const marked = MARKS.find(({ mark }) => buffer.subarray(0, mark.length).equals(mark))
  if (marked !== undefined) return withLineFeeds(new TextDecoder(marked.encoding).decode(buffer))
  const decoded = decode(buffer)
  if (decoded === undefined) return null
  if (decoded.encoding !== 'latin-1') return withLineFeeds(decoded.text)
  return withLineFeeds(textIn(buffer, 'gb18030') ?? new TextDecoder('windows-1252').decode(buffer))
}

function withLineFeeds(text: string): string {
  return text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text
}

/** Throws for a character that the encoding has not got. */
export function encode({ text, encoding, hasBom }: Decoded): Buffer {
  const mark = hasBom ? (MARKS.find((one) => one.encoding === encoding)?.mark ?? Buffer.alloc(0)) : Buffer.alloc(0)
  return Buffer.concat([mark, bytesOf(text, encoding)])
}

const MARKS: readonly { readonly encoding: Encoding; readonly mark: Buffer }[] = [
  { encoding: 'utf-8', mark: Buffer.from([0xef, 0xbb, 0xbf]) },
  { encoding: 'utf-16le', mark: Buffer.from([0xff, 0xfe]) },
  { encoding: 'utf-16be', mark: Buffer.from([0xfe, 0xff]) },
]

function textIn(bytes: Buffer, encoding: Encoding | 'gb18030'): string | undefined {
  try {
    return new TextDecoder(encoding, { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    // It is something else.
    return undefined
  }
}

function bytesOf(text: string, encoding: Encoding): Buffer {
  if (encoding === 'utf-8') return Buffer.from(text, 'utf8')
  if (encoding === 'utf-16le') return Buffer.from(text, 'utf16le')
  if (encoding === 'utf-16be') return Buffer.from(text, 'utf16le').swap16()
  const foreign = [...text].find((character) => (character.codePointAt(0) ?? 0) > 0xff)
  if (foreign !== undefined)
    refuseFile(
      `The file is in Latin-1, which has no ${JSON.stringify(foreign)}. Write it without, or convert the file first.`,
    )
  return Buffer.from(text, 'latin1')
}

/** UTF-16 shows by the zeros of its common letters: they stand on one side only, and nearly always. */
function unmarkedUtf16(bytes: Buffer): Decoded | undefined {
  const start = bytes.subarray(0, SNIFFED_BYTES)
  const zeros = [0, 1].map((side) => start.filter((byte, at) => byte === 0 && at % 2 === side).length)
  const encoding = zeros[0] === 0 ? 'utf-16le' : zeros[1] === 0 ? 'utf-16be' : undefined
  if (encoding === undefined || Math.max(...zeros) < start.length * MIN_ZERO_SHARE) return undefined
  const text = textIn(bytes, encoding)
  return text === undefined || UNTYPED.test(text) ? undefined : { text, encoding, hasBom: false }
}

const UNTYPED = /[^\P{Cc}\s]/u

/** Part of the bytes that are zeros: of a text in Latin letters one half is. */
const MIN_ZERO_SHARE = 0.4

const SNIFFED_BYTES = 8 * 1024
function isBinary(bytes: Buffer): boolean {
  const start = bytes.subarray(0, SNIFFED_BYTES)
  if (start.includes(0)) return true
  return start.filter(isControlByte).length > start.length / 20
}

/** Control characters that no text contains; not line ends, tabs and escapes. */
function isControlByte(byte: number): boolean {
  return byte < 7 || (byte > 13 && byte < 32 && byte !== 27)
}
