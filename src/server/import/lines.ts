/** The lines of a file, one at a time: none is held that is longer than it may be, or that is no UTF-8. */
import { createReadStream } from 'node:fs'
import { fileReasonOf } from '../../errors/file-reason.ts'
import { fail } from '../../errors/parley-error.ts'

/** Bytes. The longest message that a client can send, and room for how it is written. */
const MAX_LINE_BYTES = 64 * 1024 * 1024

export interface FileLine {
  /** From 1. */
  readonly number: number
  readonly text: string
}

const NEWLINE = 10

/** Throws IMPORT_UNREADABLE, and IMPORT_INVALID with the line that is wrong. */
export async function* linesOfFile(path: string): AsyncGenerator<FileLine> {
  let number = 1
  let parts: Buffer[] = []
  let length = 0
  for await (const chunk of chunksOf(path)) {
    let start = 0
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      yield { number, text: decodeLine([...parts, chunk.subarray(start, end)], { path, number }) }
      parts = []
      length = 0
      number += 1
      start = end + 1
    }
    parts.push(chunk.subarray(start))
    length += chunk.length - start
    if (length > MAX_LINE_BYTES)
      fail('IMPORT_INVALID', { path, line: number, reason: `it is longer than ${MAX_LINE_BYTES} bytes` })
  }
  if (length > 0) yield { number, text: decodeLine(parts, { path, number }) }
}

async function* chunksOf(path: string): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of createReadStream(path)) yield chunk as Buffer
  } catch (error) {
    fail('IMPORT_UNREADABLE', { path, reason: fileReasonOf(error) }, error)
  }
}

function decodeLine(
  parts: readonly Buffer[],
  { path, number }: { readonly path: string; readonly number: number },
): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: number > 1 }).decode(Buffer.concat(parts))
  } catch (error) {
    return fail('IMPORT_INVALID', { path, line: number, reason: 'it is not UTF-8' }, error)
  }
}
