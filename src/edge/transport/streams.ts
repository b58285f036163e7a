/** A transport over a pair of Node streams (stdin and stdout, a socket, a pipe within the process): one message per line. */
import type { Readable, Writable } from 'node:stream'
import { ParleyError } from '../../errors/parley-error.ts'
import { type Frame, LineFraming, MAX_MESSAGE_BYTES, TooLong, decodeUtf8 } from '../../rpc/framing.ts'
import { requestBegunBy } from '../../rpc/json-rpc.ts'
import type { Received, Transport } from './transport.ts'

/** Bytes not yet read by a client from which on it is served from the journal instead of memory. */
export const BACKPRESSURE_BYTES = 1024 * 1024
/** Bytes not yet read by a client that sends requests and does not read: past these it is cut off and can resume from its cursor. */
export const MAX_UNREAD_BYTES = 64 * 1024 * 1024

/** Bytes that all connections together may hold: of lines that have not ended, and of what clients have not read. */
const MAX_ALL_UNFINISHED_BYTES = 64 * 1024 * 1024
const MAX_ALL_UNREAD_BYTES = 256 * 1024 * 1024

/** The limits that the connections of one server share. */
export class SharedLimits {
  readonly unfinished = new SharedLimit(MAX_ALL_UNFINISHED_BYTES)
  readonly unread = new SharedLimit(MAX_ALL_UNREAD_BYTES)
}

export function openStreamTransport(input: Readable, output: Writable, limits = new SharedLimits()): Transport {
  const untilDrained = drainOf(output)
  let isGone = false
  const lose = (): void => {
    // EPIPE and its kin: the client is gone; its sessions stay.
    isGone = true
  }
  const destroy = (): void => {
    lose()
    output.destroy()
    input.destroy()
  }
  const unread: Holder = { bytes: () => (output.destroyed ? 0 : output.writableLength), cutOff: destroy }
  output.on('error', lose)
  output.on('close', () => {
    lose()
    limits.unread.changed(unread)
  })
  return {
    messages: new MessageReader(input, limits.unfinished).messages(),
    send(messages) {
      if (isGone) return
      output.write(joinedLines(messages))
      if (output.writableLength > MAX_UNREAD_BYTES) destroy()
      if (output.writableLength > BACKPRESSURE_BYTES) limits.unread.changed(unread)
    },
    isBackpressured: () => !isGone && !output.destroyed && output.writableLength > BACKPRESSURE_BYTES,
    async drained() {
      while (!output.destroyed && output.writableNeedDrain) await untilDrained()
    },
    async close() {
      if (!isGone) {
        isGone = true
        await new Promise<void>((resolve) => output.end(resolve)).catch(() => undefined)
      }
      // An input that is still open keeps the process alive, though its client is no longer served.
      input.destroy()
    },
    destroy,
  }
}

const NEWLINE = 0x0a

/** The bytes of messages that were sent to some client already: the same array for every client of a session. */
const encoded = new WeakMap<readonly string[], Buffer>()

function joinedLines(messages: readonly string[]): Buffer {
  const known = encoded.get(messages)
  if (known !== undefined) return known
  const text = messages.join('\n')
  const length = Buffer.byteLength(text)
  const bytes = Buffer.allocUnsafe(length + 1)
  bytes.write(text)
  bytes[length] = NEWLINE
  encoded.set(messages, bytes)
  return bytes
}

/** Waits until `output` has been read, or is closed; one listener however many wait. */
export function drainOf(output: Writable): () => Promise<void> {
  const waiting: (() => void)[] = []
  const wake = (): void => {
    for (const resume of waiting.splice(0)) resume()
  }
  output.on('drain', wake)
  output.on('close', wake)
  return () => new Promise((resolve) => waiting.push(resolve))
}

/** Reads from the stream only when what it has read before was taken. */
class MessageReader implements Holder {
  readonly #input: Readable
  readonly #unfinished: SharedLimit
  readonly #framing = new LineFraming(MAX_MESSAGE_BYTES)
  #arrived: (readonly Received[])[] = []
  #hasEnded = false
  #wake: () => void = () => undefined

  constructor(input: Readable, unfinished: SharedLimit) {
    this.#input = input
    this.#unfinished = unfinished
  }

  async *messages(): AsyncGenerator<readonly Received[]> {
    this.#listen()
    for (;;) {
      const messages = this.#arrived.shift()
      if (messages !== undefined) yield messages
      else if (this.#hasEnded) return
      else await this.#more()
    }
  }

  bytes(): number {
    return this.#framing.heldBytes
  }

  cutOff(): void {
    this.#framing.drop()
    this.#arrived.push([
      { id: null, error: new ParleyError('UNFINISHED_LIMIT', { limit: this.#unfinished.limitBytes }) },
    ])
    this.#end()
  }

  #listen(): void {
    const input = this.#input
    if (input.destroyed || input.readableEnded) this.#hasEnded = true
    input.on('data', (bytes: Uint8Array) => this.#read(bytes))
    input.once('end', () => {
      if (!this.#hasEnded) this.#arrived.push(this.#framing.end().flatMap(receivedIn))
      this.#end()
    })
    // A connection that breaks has ended; there is no client to answer.
    input.on('error', () => this.#end())
    input.once('close', () => this.#end())
  }

  #read(bytes: Uint8Array): void {
    if (this.#hasEnded) return
    const frames = this.#framing.push(bytes)
    if (frames.length > 0) {
      this.#arrived.push(frames.flatMap(receivedIn))
      this.#input.pause()
      this.#wake()
    }
    this.#unfinished.changed(this)
  }

  #more(): Promise<void> {
    this.#input.resume()
    return new Promise((resolve) => (this.#wake = resolve))
  }

  #end(): void {
    this.#hasEnded = true
    this.#framing.drop()
    this.#unfinished.changed(this)
    this.#wake()
  }
}

/** Nothing for a blank line. */
function receivedIn(frame: Frame): readonly Received[] {
  if (frame instanceof TooLong) {
    const error = new ParleyError('MESSAGE_TOO_LONG', { limit: MAX_MESSAGE_BYTES })
    return [{ id: requestBegunBy(frame.beginning), error }]
  }
  const text = decodeUtf8(frame)
  if (text === undefined)
    return [{ id: null, error: new ParleyError('MESSAGE_MALFORMED', { reason: 'it is not UTF-8' }) }]
  return text.trim() === '' ? [] : [text]
}

/** A connection that holds bytes in memory. */
export interface Holder {
  bytes(): number
  /** Holds no bytes when this returns. */
  cutOff(): void
}

/** A limit on what many connections hold together: past it, the one that holds most is cut off. */
export class SharedLimit {
  readonly limitBytes: number
  /** Bytes of each holder when it last reported. */
  readonly #held = new Map<Holder, number>()
  #total = 0

  constructor(limitBytes: number) {
    this.limitBytes = limitBytes
  }

  /** A holder calls this at least whenever it holds more than before. */
  changed(holder: Holder): void {
    this.#note(holder)
    while (this.#total > this.limitBytes) this.#relieve()
  }

  /** Some may hold less than when they last reported, so all are counted anew first. */
  #relieve(): void {
    for (const holder of this.#held.keys()) this.#note(holder)
    if (this.#total <= this.limitBytes) return
    const [largest] = [...this.#held].reduce((most, one) => (one[1] > most[1] ? one : most))
    largest.cutOff()
    this.#note(largest)
  }

  #note(holder: Holder): void {
    const bytes = holder.bytes()
    this.#total += bytes - (this.#held.get(holder) ?? 0)
    if (bytes === 0) this.#held.delete(holder)
    else this.#held.set(holder, bytes)
  }
}
