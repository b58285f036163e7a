/** Bytes as text and back: every file is written in the encoding in which it was read. */
import { refuse } from '../toolset/result.ts'

export type Encoding = 'utf-8' | 'utf-16le' | 'utf-16be' | 'latin-1'

export interface Decoded {
  readonly text: string
  readonly encoding: Encoding
  /** It begins with a mark of its byte order, which is no part of the text. */
  readonly hasBom: boolean
}

/** Where nothing else is known. */
export const PLAIN = { encoding: 'utf-8', hasBom: false } as const

/** Undefined for what is no text. */
export function decode(bytes: Buffer): Decoded | undefined {
  const marked = MARKS.find(({ mark }) => bytes.subarray(0, mark.length).equals(mark))
  if (marked !== undefined) {
    const text = textIn(bytes.subarray(marked.mark.length), marked.encoding)
    return text === undefined || text.includes('\0') ? undefined : { text, encoding: marked.encoding, hasBom: true }
  }
  if (isBinary(bytes)) return unmarkedWide(bytes)
  const text = textIn(bytes, 'utf-8')
  if (text !== undefined) return { text, ...PLAIN }
  return { text: bytes.toString('latin1'), encoding: 'latin-1', hasBom: false }
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

function textIn(bytes: Buffer, encoding: Encoding): string | undefined {
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
    refuse(
      `The file is in Latin-1, which has no ${JSON.stringify(foreign)}. Write it without, or convert the file first.`,
    )
  return Buffer.from(text, 'latin1')
}

/** UTF-16 shows by the zeros of its common letters: they stand on one side only, and nearly always. */
function unmarkedWide(bytes: Buffer): Decoded | undefined {
  const start = bytes.subarray(0, LOOKED_AT)
  const zeros = [0, 1].map((side) => start.filter((byte, at) => byte === 0 && at % 2 === side).length)
  const encoding = zeros[0] === 0 ? 'utf-16le' : zeros[1] === 0 ? 'utf-16be' : undefined
  if (encoding === undefined || Math.max(...zeros) < start.length * WIDE) return undefined
  const text = textIn(bytes, encoding)
  return text === undefined || UNTYPED.test(text) ? undefined : { text, encoding, hasBom: false }
}

const UNTYPED = /[^\P{Cc}\s]/u

/** Part of the bytes that are zeros: of a text in Latin letters one half is. */
const WIDE = 0.4

const LOOKED_AT = 8 * 1024
function isBinary(bytes: Buffer): boolean {
  const start = bytes.subarray(0, LOOKED_AT)
  if (start.includes(0)) return true
  return start.filter(isUntyped).length > start.length / 20
}

/** Control characters that nobody types; not the ends of lines, tabs and escapes. */
function isUntyped(byte: number): boolean {
  return byte < 7 || (byte > 13 && byte < 32 && byte !== 27)
}
