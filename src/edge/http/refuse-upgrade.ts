/** Refuses an upgrade by writing the response to the socket, because Node has no response object for it. */
import { STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { PLAIN } from './exchange.ts'
import type { Refusal } from './request-checks.ts'

export function refuseUpgrade(wire: Duplex, { status, sentence, headers = {} }: Refusal): void {
  const length = { 'Content-Length': String(Buffer.byteLength(sentence) + 1) }
  const all = { ...PLAIN, ...headers, ...length, Connection: 'close' }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  wire.once('finish', () => wire.destroy())
  wire.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${sentence}\n`)
}
