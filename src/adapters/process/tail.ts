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

/** The cut may fall inside a character; its rest is dropped. */
function textOf(bytes: Buffer): string {
  const start = bytes.length < LIMIT_BYTES ? 0 : bytes.findIndex((byte) => (byte & 0xc0) !== 0x80)
  return bytes.subarray(Math.max(start, 0)).toString('utf8')
}
