/** A wire over a pair of Node streams: stdin and stdout, a socket, or a pipe within the process. */
import type { Readable, Writable } from 'node:stream'
import { type Line, LineCutter } from './lines.ts'
import { type Holder, SharedLimit } from './shared-limit.ts'
import type { Transport } from './transport.ts'

/** Bytes; as in the SDK, so that both sides refuse the same. */
const LONGEST_LINE = 32 * 1024 * 1024
/** Bytes owed to a client before it is read for from the journal instead of memory. */
const CONGESTED = 1024 * 1024
/** Bytes owed to a client that does not read and yet asks: past these it is cut off. It can go on from its cursor. */
const CUT_OFF = 64 * 1024 * 1024

/** Bytes that all connections together hold of lines that have not ended, and owe to clients that do not read. */
const ALL_UNFINISHED = 64 * 1024 * 1024
const ALL_UNREAD = 256 * 1024 * 1024

/** What the connections of one server hold together. */
export class SharedLimits {
  readonly unfinished = new SharedLimit(ALL_UNFINISHED)
  readonly unread = new SharedLimit(ALL_UNREAD)
}

export function openStreamTransport(input: Readable, output: Writable, limits = new SharedLimits()): Transport {
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
  const unread: Holder = { bytes: () => (output.destroyed ? 0 : output.writableLength), cutOff: destroy }
  output.on('error', lose)
  output.on('close', () => {
    lose()
    limits.unread.changed(unread)
  })
  return {
    lines: new LineReader(input, limits.unfinished).lines(),
    send(lines) {
      if (gone) return
      output.write(lines)
      if (output.writableLength > CUT_OFF) destroy()
      if (output.writableLength > CONGESTED) limits.unread.changed(unread)
    },
    isBackpressured: () => !gone && !output.destroyed && output.writableLength > CONGESTED,
    async drained() {
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

/** Reads on only when what it has read has been taken. */
class LineReader implements Holder {
  readonly #input: Readable
  readonly #unfinished: SharedLimit
  readonly #cutter = new LineCutter(LONGEST_LINE)
  #arrived: (readonly Line[])[] = []
  #isOver = false
  #wake: () => void = () => undefined

  constructor(input: Readable, unfinished: SharedLimit) {
    this.#input = input
    this.#unfinished = unfinished
  }

  async *lines(): AsyncGenerator<readonly Line[]> {
    this.#listen()
    for (;;) {
      const lines = this.#arrived.shift()
      if (lines !== undefined) yield lines
      else if (this.#isOver) return
      else await this.#more()
    }
  }

  bytes(): number {
    return this.#cutter.unfinished
  }

  cutOff(): void {
    this.#cutter.drop()
    this.#arrived.push([{ kind: 'cut_off', limit: this.#unfinished.limit }])
    this.#end()
  }

  #listen(): void {
    const input = this.#input
    if (input.destroyed || input.readableEnded) this.#isOver = true
    input.on('data', (bytes: Uint8Array) => this.#read(bytes))
    input.once('end', () => {
      if (!this.#isOver) this.#arrived.push(this.#cutter.end())
      this.#end()
    })
    // A connection that breaks has ended; nobody is there to be told.
    input.on('error', () => this.#end())
    input.once('close', () => this.#end())
  }

  #read(bytes: Uint8Array): void {
    if (this.#isOver) return
    const lines = this.#cutter.push(bytes)
    if (lines.length > 0) {
      this.#arrived.push(lines)
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
    this.#isOver = true
    this.#cutter.drop()
    this.#unfinished.changed(this)
    this.#wake()
  }
}
