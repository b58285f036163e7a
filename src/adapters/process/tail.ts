/** The last of what a stream said, in bounded memory, while it is read as fast as it comes. */
import type { Readable } from 'node:stream'

const LIMIT_BYTES = 4096

/** Drains `stream` from now on; the function returns its last few KiB as text. */
export function tailOf(stream: Readable): () => string {
  let kept = Buffer.alloc(0)
  stream.on('data', (chunk: Buffer) => {
    kept = chunk.length >= LIMIT_BYTES ? Buffer.from(chunk.subarray(-LIMIT_BYTES)) : joined(kept, chunk)
  })
  // What cannot be read is no reason to fail: these are words for people.
  stream.on('error', () => undefined)
  return () => textOf(kept)
}

function joined(kept: Buffer, chunk: Buffer): Buffer<ArrayBuffer> {
  return Buffer.concat([kept.subarray(-(LIMIT_BYTES - chunk.length)), chunk])
}

/** The cut may fall inside a word, which may be a secret that nobody would know by its end; the rest of that word is dropped. */
function textOf(bytes: Buffer): string {
  const isCut = bytes.length >= LIMIT_BYTES
  const text = bytes.toString('utf8')
  return isCut ? text.replace(/^\S*/u, '') : text
}
