/** A connection as a client sees it: whole JSON-RPC messages in and out, over lines of bytes or whatever else carries them. */
import { fail } from '../../errors/parley-error.ts'

export interface Pipe {
  /** Each message as its JSON text; ends when the server has closed its side. */
  readonly messages: AsyncIterable<string>
  /** Never waits. Dropped once the server is gone. */
  send(message: string): void
  close(): void
}

/** Where lines go: a Node stream, or anything that writes. */
export interface LineOutput {
  write(line: string): unknown
  end(): unknown
}

/** Characters of one message: more than any server of ours sends, and less than memory bears. */
const LONGEST = 64 * 1024 * 1024

/** ACP's framing on bytes: one message per line. */
export function linePipe(input: AsyncIterable<Uint8Array>, output: LineOutput): Pipe {
  let open = true
  return {
    messages: linesOf(input),
    send(message) {
      if (open) output.write(`${message}\n`)
    },
    close() {
      if (open) output.end()
      open = false
    },
  }
}

/** Lines however the bytes arrive; empty ones are none. Throws MESSAGE_TOO_LONG: a line may have no end. */
async function* linesOf(input: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const utf8 = new TextDecoder()
  // Held back in pieces: a long line is searched and joined once, not with every piece that arrives.
  let held: string[] = []
  let length = 0
  for await (const bytes of input) {
    const [first = '', ...rest] = utf8.decode(bytes, { stream: true }).split('\n')
    held.push(first)
    length += first.length
    if (length > LONGEST) fail('MESSAGE_TOO_LONG', { limit: LONGEST })
    for (const piece of rest) {
      const line = held.join('')
      held = [piece]
      length = piece.length
      if (line.trim() !== '') yield line
    }
  }
}
