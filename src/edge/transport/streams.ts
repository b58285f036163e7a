/** A wire over a pair of Node streams: stdin and stdout, a socket, or a pipe within the process. */
import { once } from 'node:events'
import type { Readable, Writable } from 'node:stream'
import { type Line, LineCutter } from './lines.ts'
import type { Wire } from './wire.ts'

/** Bytes; as in the SDK, so that both sides refuse the same. */
const LONGEST_LINE = 32 * 1024 * 1024
/** Bytes owed to a client before it is read for from the journal instead of memory. */
const CONGESTED = 1024 * 1024

export function openWire(input: Readable, output: Writable): Wire {
  let gone = false
  output.on('error', () => {
    // EPIPE and its kin: the client is gone, and the session goes on without it.
    gone = true
  })
  output.on('close', () => {
    gone = true
  })
  return {
    lines: linesOf(input),
    send(lines) {
      if (!gone) output.write(lines)
    },
    congested: () => !gone && output.writableLength > CONGESTED,
    async room() {
      while (!output.destroyed && output.writableNeedDrain)
        await Promise.race([once(output, 'drain'), once(output, 'close')])
    },
    async close() {
      if (!gone) {
        gone = true
        await new Promise<void>((resolve) => output.end(resolve)).catch(() => undefined)
      }
      // Whoever still listened to a client that is no longer served would keep the process alive.
      input.destroy()
    },
  }
}

async function* linesOf(input: Readable): AsyncGenerator<readonly Line[]> {
  const cutter = new LineCutter(LONGEST_LINE)
  try {
    for await (const bytes of input) yield cutter.push(bytes as Uint8Array)
    yield cutter.end()
  } catch {
    // A connection that breaks has ended; nobody is there to be told.
  }
}
