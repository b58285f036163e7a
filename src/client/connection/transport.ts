/** A connection as the client sees it: JSON-RPC messages in both directions, over lines of bytes or anything else that carries texts. */
import { LineFraming, TooLong } from '../../rpc/framing.ts'
import { fail } from '../client-error.ts'

export interface ClientTransport {
  /** Each message as its JSON text; ends when the other side has closed. */
  readonly messages: AsyncIterable<string>
  /** Never waits. Dropped once the other side is gone. */
  send(message: string): void
  close(): void
}

/** Where lines go: a Node stream, or anything else that writes. */
export interface LineOutput {
  write(line: string): unknown
  end(): unknown
}

/** More than a server of ours sends in one message, and less than memory holds. */
const MAX_LINE_BYTES = 64 * 1024 * 1024

/** ACP's framing on bytes: one message per line. */
export function openLineTransport(input: AsyncIterable<Uint8Array>, output: LineOutput): ClientTransport {
  let isOpen = true
  return {
    messages: readLines(input),
    send(message) {
      if (isOpen) output.write(`${message}\n`)
    },
    close() {
      if (isOpen) output.end()
      isOpen = false
    },
  }
}

/** Blank lines are skipped, and so is a last line without its newline. Throws MESSAGE_TOO_LONG: a line may have no end. */
async function* readLines(input: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const framing = new LineFraming(MAX_LINE_BYTES)
  // Foreign agents may send what is not UTF-8 within a message that is usable all the same.
  const utf8 = new TextDecoder()
  for await (const bytes of input) {
    for (const frame of framing.push(bytes)) {
      if (frame instanceof TooLong) return fail('MESSAGE_TOO_LONG', { limit: MAX_LINE_BYTES })
      const line = utf8.decode(frame)
      if (line.trim() !== '') yield line
    }
  }
}
