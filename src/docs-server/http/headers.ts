/** Writes header names the way people read them, for clients that compare them letter by letter. */
import type { ServerResponse } from 'node:http'

/** The part of a response that the SDK's adapter writes to. */
export interface PlainResponse {
  writeHead(status: number, headers?: Record<string, string>): unknown
  write(chunk: string | Uint8Array): unknown
  end(chunk?: string | Uint8Array): unknown
  on(event: string, listener: (...args: unknown[]) => void): unknown
  readonly destroyed: boolean
}

export function plainly(response: ServerResponse): PlainResponse {
  return {
    writeHead: (status, headers = {}) => {
      const named = Object.entries(headers).map(([name, value]) => [titled(name), value] as const)
      response.writeHead(status, Object.fromEntries(named))
      // A stream is open from its head on, not from its first message.
      response.flushHeaders()
    },
    write: (chunk) => response.write(chunk),
    end: (chunk) => response.end(chunk),
    on: (event, listener) => response.on(event, listener),
    get destroyed() {
      return response.destroyed
    },
  }
}

function titled(name: string): string {
  return name.replaceAll(/(?<=^|-)[a-z]/g, (letter) => letter.toUpperCase())
}
