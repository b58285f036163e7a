/** Writes heads the way people and simple clients read them: names letter by letter, and how long the answer is. */
import type { ServerResponse } from 'node:http'

/** The part of a response that the SDK's adapter writes to. */
export interface PlainResponse {
  writeHead(status: number, headers?: Record<string, string>): unknown
  write(chunk: string | Uint8Array): unknown
  end(): unknown
  on(event: string, listener: (...args: unknown[]) => void): unknown
  readonly destroyed: boolean
}

export function plainly(response: ServerResponse): PlainResponse {
  const whole: (string | Uint8Array)[] = []
  let streams = false
  return {
    writeHead(status, headers = {}) {
      streams = headers['content-type'] === 'text/event-stream'
      response.statusCode = status
      for (const [name, value] of Object.entries(headers)) response.setHeader(titled(name), value)
      // A stream is open from its head on, not from its first message.
      if (streams) response.flushHeaders()
    },
    write: (chunk) => (streams ? response.write(chunk) : whole.push(chunk)),
    // Node tells the length of an answer that it gets in one piece; clients that read to the byte want to know it.
    end: () => (streams ? response.end() : response.end(Buffer.concat(whole.map((chunk) => Buffer.from(chunk))))),
    on: (event, listener) => response.on(event, listener),
    get destroyed() {
      return response.destroyed
    },
  }
}

function titled(name: string): string {
  return name.replaceAll(/(?<=^|-)[a-z]/g, (letter) => letter.toUpperCase())
}
