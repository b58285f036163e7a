/** ACP over WebSocket: one JSON-RPC message a text frame, and without compression, which costs more than it saves. */
import type { Duplex } from 'node:stream'
import { WebSocket } from 'ws'
import type { Clock, Timer } from '../../ports/clock.ts'
import { BACKPRESSURE_BYTES, type Holder, MAX_UNREAD_BYTES, type SharedLimit, drainOf } from '../transport/streams.ts'
import type { BodyShare } from './admission/body-budget.ts'
import type { Received, Transport } from '../transport/transport.ts'

/** Subprotocol of our own clients: a frame may hold many messages, one a line. Nine times as many fit through. */
export const MANY_LINES = 'parley.lines.v1'

/** Below the idle limits of usual proxies, 60 s. */
const PING_MS = 20_000
const DEAD_MS = 45_000
/** How long a client may take to send `initialize`. */
const GREETING_MS = 10_000
const GREETING_BYTES = 64 * 1024
/** Of a ping or pong of a client, besides its data: header and mask. */
const CONTROL_FRAME_BYTES = 6
/** How long a client may take to answer our close. */
const CLOSE_MS = 500

/** Of the clients that get the same messages, so many get each batch at once, and the others what gathers in this time: a page is drawn no sooner. */
const AT_ONCE = 4
const GATHER_MS = 16
const MAX_HELD_BYTES = 64 * 1024
/** A browser has nothing of a frame before it has all of it, so on a slow line a small one is shown sooner. */
const FRAME_CHARS = 16 * 1024

/** Why we close; 4000 and above are our own. `docs/remote.md` lists them. */
export const CLOSE = {
  binary: [1003, 'Send text frames, with one JSON-RPC message each.'],
  tooLate: [1008, 'Send initialize within 10 seconds.'],
  tooMuch: [1009, 'Send initialize first; only 64 KiB are read before it.'],
  restarting: [1012, 'The server stops. Sessions are stored; connect again and resume.'],
  token: [4401, 'The access token was removed.'],
  device: [4401, 'This device was removed; pair it again.'],
  share: [4401, 'The share link has ended.'],
  unfinished: [4429, 'Too many bytes of messages that have not ended are on their way already; connect again.'],
  role: [4403, 'The access token has another role now; connect again.'],
  slow: [4408, 'Too much was left unread; connect again and resume.'],
} as const satisfies Readonly<Record<string, readonly [code: number, sentence: string]>>

interface WebSocketDeps {
  readonly clock: Pick<Clock, 'setTimer' | 'monotonicNow'>
  /** Counts the bytes that clients of all connections have not read yet. */
  readonly unread: SharedLimit
  /** Counts the bytes of the client's unfinished message. */
  readonly unfinished: BodyShare
}

export class WebSocketTransport implements Transport, Holder {
  readonly #socket: WebSocket
  /** The connection below the frames. */
  readonly #wire: Duplex
  readonly #clock: WebSocketDeps['clock']
  readonly #unread: SharedLimit
  readonly #unfinished: BodyShare
  #unfinishedBytes = 0
  readonly #untilDrained: () => Promise<void>
  #arrived: (readonly Received[])[] = []
  #hasEnded = false
  #wake: () => void = () => undefined
  #greeting: Timer | undefined
  #bytesBeforeGreeting = 0
  #lastHeard: number
  #ping: Timer | undefined
  /** Frames that are written together. */
  #held: Buffer[] = []
  #heldBytes = 0
  #gathering: Timer | undefined
  /** Nothing more is sent: it is closed, or being closed. */
  #isGone = false

  constructor(socket: WebSocket, wire: Duplex, { clock, unread, unfinished }: WebSocketDeps) {
    this.#socket = socket
    this.#wire = wire
    this.#clock = clock
    this.#unread = unread
    this.#unfinished = unfinished
    this.#untilDrained = drainOf(wire)
    this.#lastHeard = clock.monotonicNow()
    this.#greeting = clock.setTimer(GREETING_MS, () => this.cut('tooLate'))
    socket.on('message', (data: Buffer, isBinary) => this.#read(data, isBinary))
    for (const control of ['ping', 'pong'] as const)
      socket.on(control, (data: Buffer) => (this.#unfinishedBytes -= CONTROL_FRAME_BYTES + data.length))
    // It closes by itself after an error, with a code that says which.
    socket.on('error', () => this.#end())
    socket.on('close', () => this.#end())
    wire.on('data', (bytes: Buffer) => this.#heard(bytes.length))
    // What was collected is in memory until then.
    wire.once('close', () => this.#unfinished.set(0))
    this.#pingLater()
  }

  get messages(): AsyncIterable<readonly Received[]> {
    return this.#messages()
  }

  initialized(): void {
    this.#greeting?.cancel()
    this.#greeting = undefined
  }

  send(messages: readonly string[]): void {
    if (this.#isGone || !this.#isOpen) return
    const framed = framesOf(messages, this.#socket.protocol === MANY_LINES ? 'lines' : 'single')
    framed.receivers += 1
    this.#held.push(framed.frames)
    this.#heldBytes += framed.frames.length
    if (framed.receivers <= AT_ONCE || this.#heldBytes > MAX_HELD_BYTES) this.#write()
    else this.#gathering ??= this.#clock.setTimer(GATHER_MS, () => this.#write())
    if (this.bytes() > MAX_UNREAD_BYTES) this.cut('slow')
    if (this.bytes() > BACKPRESSURE_BYTES) this.#unread.changed(this)
  }

  isBackpressured(): boolean {
    return !this.#isGone && this.bytes() > BACKPRESSURE_BYTES
  }

  async drained(): Promise<void> {
    while (!this.#wire.destroyed && this.#wire.writableNeedDrain) await this.#untilDrained()
  }

  async close(): Promise<void> {
    this.cut('restarting')
    if (!this.#wire.destroyed) await new Promise<void>((resolve) => this.#wire.once('close', () => resolve()))
  }

  destroy(): void {
    this.#end()
    this.#socket.terminate()
  }

  /** Tells the client why, and reads and sends nothing more. */
  cut(why: keyof typeof CLOSE): void {
    if (this.#isGone) return
    this.#write()
    this.#arrived = []
    this.#end()
    const [code, sentence] = CLOSE[why]
    // Further data is dropped, except for the client's close frame.
    this.#socket.resume()
    this.#socket.close(code, sentence)
    // The answer would come behind the message that is too much.
    if (why === 'unfinished') this.#wire.end(() => this.#socket.terminate())
    this.#clock.setTimer(CLOSE_MS, () => this.#socket.terminate())
  }

  bytes(): number {
    return this.#wire.destroyed ? 0 : this.#wire.writableLength
  }

  cutOff(): void {
    this.cut('slow')
  }

  /** The client may have sent its close by now, after which nothing may follow ours. */
  get #isOpen(): boolean {
    return this.#socket.readyState === WebSocket.OPEN
  }

  /** Past the package, which makes a frame for each client and writes its header by itself. */
  #write(): void {
    this.#gathering?.cancel()
    this.#gathering = undefined
    const frames = this.#held
    this.#held = []
    this.#heldBytes = 0
    if (!this.#isOpen) return
    if (frames.length > 1) this.#wire.cork()
    for (const one of frames) this.#wire.write(one)
    if (frames.length > 1) this.#wire.uncork()
  }

  async *#messages(): AsyncGenerator<readonly Received[]> {
    for (;;) {
      const messages = this.#arrived.shift()
      if (messages !== undefined) yield messages
      else if (this.#hasEnded) return
      else await this.#more()
    }
  }

  /** A frame may end with a newline, and bridges of other programs send several lines in one. */
  #read(data: Buffer, isBinary: boolean): void {
    this.#unfinishedBytes = -Infinity
    if (this.#hasEnded) return
    if (isBinary) return this.cut('binary')
    const lines = data
      .toString()
      .split('\n')
      .filter((line) => line.trim() !== '')
    if (lines.length === 0) return
    this.#arrived.push(lines)
    this.#socket.pause()
    this.#wake()
  }

  #more(): Promise<void> {
    this.#socket.resume()
    return new Promise((resolve) => (this.#wake = resolve))
  }

  #heard(bytes: number): void {
    this.#lastHeard = this.#clock.monotonicNow()
    // What comes behind the end of a message in the same bytes is little.
    this.#unfinishedBytes = Math.max(0, this.#unfinishedBytes + bytes)
    if (!this.#unfinished.set(this.#unfinishedBytes)) {
      if (this.#isGone) this.#socket.terminate()
      else this.cut('unfinished')
    }
    if (this.#greeting === undefined) return
    this.#bytesBeforeGreeting += bytes
    if (this.#bytesBeforeGreeting > GREETING_BYTES) this.cut('tooMuch')
  }

  /** Sooner where the client would have been silent for too long by then. */
  #pingLater(): void {
    const left = DEAD_MS - (this.#clock.monotonicNow() - this.#lastHeard)
    this.#ping = this.#clock.setTimer(Math.min(PING_MS, left), () => {
      // While we do not read, nothing can be heard.
      if (this.#socket.isPaused) this.#lastHeard = this.#clock.monotonicNow()
      if (this.#clock.monotonicNow() - this.#lastHeard >= DEAD_MS) return this.destroy()
      this.#socket.ping()
      this.#pingLater()
    })
  }

  #end(): void {
    this.#isGone = true
    this.#hasEnded = true
    this.initialized()
    this.#ping?.cancel()
    this.#gathering?.cancel()
    this.#unread.changed(this)
    this.#wake()
  }
}

interface Framed {
  readonly frames: Buffer
  /** How many clients were sent them. */
  receivers: number
}

/** By the array of messages, which is the same one for every client of a session. */
const framed = {
  lines: new WeakMap<readonly string[], Framed>(),
  single: new WeakMap<readonly string[], Framed>(),
} as const

/** `lines`: many messages a frame, one a line; `single`: a frame for each. */
function framesOf(messages: readonly string[], kind: keyof typeof framed): Framed {
  const known = framed[kind].get(messages)
  if (known !== undefined) return known
  const frames = textFrames(kind === 'lines' ? linesOfFrames(messages) : messages)
  const made = { frames, receivers: 0 }
  framed[kind].set(messages, made)
  return made
}

/** A message that is longer than a frame should be has one of its own. */
function linesOfFrames(messages: readonly string[]): readonly string[] {
  const texts: string[] = []
  let [from, chars] = [0, 0]
  for (const [index, { length }] of messages.entries()) {
    if (index > from && chars + length > FRAME_CHARS) {
      texts.push(messages.slice(from, index).join('\n'))
      from = index
      chars = 0
    }
    chars += length
  }
  texts.push(messages.slice(from).join('\n'))
  return texts
}

const FINAL_TEXT = 0x81

/** All in one piece of memory. RFC 6455, 5.2: a server masks nothing. */
function textFrames(texts: readonly string[]): Buffer {
  const lengths = texts.map((text) => Buffer.byteLength(text))
  const frames = Buffer.allocUnsafe(lengths.reduce((sum, length) => sum + headerOf(length) + length, 0))
  let at = 0
  for (const [index, length] of lengths.entries()) {
    at = writeHeader(frames, at, length)
    at += frames.write(texts[index] ?? '', at, length, 'utf8')
  }
  return frames
}

function headerOf(length: number): number {
  return length < 126 ? 2 : length < 65_536 ? 4 : 10
}

/** Returns where the text begins. */
function writeHeader(frames: Buffer, at: number, length: number): number {
  const header = headerOf(length)
  frames[at] = FINAL_TEXT
  frames[at + 1] = header === 2 ? length : header === 4 ? 126 : 127
  if (header === 4) frames.writeUInt16BE(length, at + 2)
  if (header === 10) frames.writeBigUInt64BE(BigInt(length), at + 2)
  return at + header
}
