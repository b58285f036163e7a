/** A wire over a pair of Node streams: stdin and stdout, a socket, or a pipe within the process. */
import type { Readable, Writable } from 'node:stream'
import { type Line, LineCutter } from './lines.ts'
import type { Wire } from './wire.ts'

/** Bytes; as in the SDK, so that both sides refuse the same. */
const LONGEST_LINE = 32 * 1024 * 1024
/** Bytes owed to a client before it is read for from the journal instead of memory. */
const CONGESTED = 1024 * 1024
/** Bytes owed to a client that does not read and yet asks: past these it is cut off. It can go on from its cursor. */
const CUT_OFF = 64 * 1024 * 1024

export function openWire(input: Readable, output: Writable): Wire {
  const room = roomOf(output)
  let gone = false
  const lose = (): void => {
    // EPIPE and its kin: the client is gone, and the session goes on without it.
    gone = true
  }
  const destroy = (): void => {
    lose()
    output.destroy()
    input.destroy()
  }
  output.on('error', lose)
  output.on('close', lose)
  return {
    lines: linesOf(input),
    send(lines) {
      if (gone) return
      output.write(lines)
      if (output.writableLength > CUT_OFF) destroy()
    },
    congested: () => !gone && !output.destroyed && output.writableLength > CONGESTED,
    async room() {
      while (!output.destroyed && output.writableNeedDrain) await room()
    },
    async close() {
      if (!gone) {
        gone = true
        await new Promise<void>((resolve) => output.end(resolve)).catch(() => undefined)
      }
      // Whoever still listened to a client that is no longer served would keep the process alive.
      input.destroy()
    },
    destroy,
  }
}

/** Waits until `output` has been read, or never will be; one listener for all who wait. */
function roomOf(output: Writable): () => Promise<void> {
  const waiting: (() => void)[] = []
  const wake = (): void => {
    for (const resume of waiting.splice(0)) resume()
  }
  output.on('drain', wake)
  output.on('close', wake)
  return () => new Promise((resolve) => waiting.push(resolve))
}

async function* linesOf(input: Readable): AsyncGenerator<readonly Line[]> {
  const cutter = new LineCutter(LONGEST_LINE)
  try {
    // A client that has closed its side of a socket may still be owed answers on ours.
    const chunks = input.iterator({ destroyOnReturn: false })
    for await (const bytes of chunks) yield cutter.push(bytes as Uint8Array)
    yield cutter.end()
  } catch {
    // A connection that breaks has ended; nobody is there to be told.
  }
}
