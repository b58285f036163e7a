/** The kind of a binary file, by its first bytes. */
import { formatCount } from '../text/shorten.ts'

/** The kinds of pictures that models take. */
export function imageType(bytes: Buffer): string | undefined {
  return IMAGES.find(({ begins, at = 0 }) => bytes.subarray(at, at + begins.length).equals(begins))?.type
}

export function describeBinary(bytes: Buffer): string {
  const kind = KNOWN_KINDS.find(({ begins, at = 0 }) => bytes.subarray(at, at + begins.length).equals(begins))?.kind
  return `${kind ?? 'a binary file'} of ${formatCount(bytes.length)} bytes`
}

interface Signature {
  readonly begins: Buffer
  readonly at?: number
}

const IMAGES: readonly (Signature & { readonly type: string })[] = [
  { begins: Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]), type: 'image/png' },
  { begins: Buffer.from([0xff, 0xd8, 0xff]), type: 'image/jpeg' },
  { begins: Buffer.from('GIF87a'), type: 'image/gif' },
  { begins: Buffer.from('GIF89a'), type: 'image/gif' },
  { begins: Buffer.from('WEBP'), at: 8, type: 'image/webp' },
]

const KNOWN_KINDS: readonly (Signature & { readonly kind: string })[] = [
  { begins: Buffer.from('%PDF-'), kind: 'a PDF document' },
  { begins: Buffer.from('PK\u0003\u0004'), kind: 'a ZIP archive (or a document that is one)' },
  { begins: Buffer.from([0x1f, 0x8b]), kind: 'a gzip archive' },
  { begins: Buffer.from([0x28, 0xb5, 0x2f, 0xfd]), kind: 'a zstd archive' },
  { begins: Buffer.from([0xfd, 0x37, 0x7a, 0x58, 0x5a]), kind: 'an xz archive' },
  { begins: Buffer.from('BZh'), kind: 'a bzip2 archive' },
  { begins: Buffer.from('ustar'), at: 257, kind: 'a tar archive' },
  { begins: Buffer.from('\u007FELF'), kind: 'a program (ELF)' },
  { begins: Buffer.from([0xcf, 0xfa, 0xed, 0xfe]), kind: 'a program (Mach-O)' },
  { begins: Buffer.from([0x00, 0x61, 0x73, 0x6d]), kind: 'a WebAssembly module' },
  { begins: Buffer.from('SQLite format 3\u0000'), kind: 'a SQLite database' },
  { begins: Buffer.from('ftyp'), at: 4, kind: 'a video or sound (MP4)' },
  { begins: Buffer.from('OggS'), kind: 'a video or sound (Ogg)' },
  { begins: Buffer.from('RIFF'), kind: 'a video or sound (RIFF)' },
  { begins: Buffer.from('ID3'), kind: 'a sound (MP3)' },
  { begins: Buffer.from('wOF'), kind: 'a font' },
]
