/** `parley acp`: passes messages between an editor's stdin and stdout and the server, and outlives that server. */
import type { Duplex } from 'node:stream'
import { ParleyError, isParleyError, reasonOf } from '../errors/parley-error.ts'
import { type Frame, LineFraming, MAX_MESSAGE_BYTES, TooLong, decodeUtf8 } from '../rpc/framing.ts'
import { errorMessage, parseMessage, requestBegunBy } from '../rpc/json-rpc.ts'
import { Connector, type ServerAccess } from './connector.ts'
import type { Handshake, KnownOffers } from './handshake.ts'
import { RelayState } from './state/relay-state.ts'

export interface RelayDeps {
  readonly input: AsyncIterable<Buffer>
  readonly output: NodeJS.WritableStream
  readonly handshake: Handshake
  readonly server: ServerAccess
  readonly offers: KnownOffers
  newId(): string
  /** Shows a sentence to the user; the client does not receive it. */
  say(sentence: string): void
}

/** How long a client that has closed its side may still be answered. */
const DRAIN_TIMEOUT_MS = 2_000
/** How often the relay checks whether another program has started a server, once it does not start one itself. */
const PROBE_INTERVAL_MS = { first: 50, longest: 1_000 }

/** Resolves when the client has closed its side and its messages have been passed on; the sessions stay. */
export async function relay(deps: RelayDeps): Promise<void> {
  await new Relay(deps).run()
}

type Server =
  /** `isStarting`: none runs, and one is being started. */
  | { readonly kind: 'connecting'; readonly isStarting: boolean }
  /** `isProven`: it has answered all that it was asked at first. */
  | { readonly kind: 'connected'; readonly socket: Duplex; isProven: boolean }
  /** It was stopped, or cannot be reached. The next request of the client starts one. */
  | { readonly kind: 'absent'; readonly why: ParleyError }

class Relay {
  readonly #deps: RelayDeps
  readonly #connector: Connector
  readonly #state: RelayState
  /** Signals that the server, or what it has answered, has changed. */
  readonly #changed = new Condition()
  #server: Server = { kind: 'connecting', isStarting: false }
  #isLeaving = false

  constructor(deps: RelayDeps) {
    this.#deps = deps
    this.#connector = new Connector(deps.server, () => this.#become({ kind: 'connecting', isStarting: true }))
    this.#state = new RelayState({
      handshake: deps.handshake,
      newId: () => deps.newId(),
      toServer: (lines) => void (this.#server.kind === 'connected' && this.#server.socket.write(lines)),
      toClient: (lines) => void this.#toClient(lines),
      say: (sentence) => deps.say(sentence),
      offers: deps.offers,
    })
  }

  async run(): Promise<void> {
    this.#deps.output.on('error', () => {
      // The client reads no more. Its remaining messages are passed on, then the relay ends.
    })
    const serving = this.#serve()
    await this.#readClient()
    await this.#leave(serving)
  }

  /** Passes the client's messages on. While there is no server they wait, and reading stops. */
  async #readClient(): Promise<void> {
    const framing = new LineFraming(MAX_MESSAGE_BYTES)
    try {
      for await (const bytes of this.#deps.input) for (const frame of framing.push(bytes)) await this.#fromClient(frame)
    } catch {
      // A pipe that breaks has closed.
    }
    for (const frame of framing.end())
      if (isComplete(frame)) await this.#toServer(Buffer.concat([frame, Buffer.from('\n')]))
  }

  async #fromClient(frame: Frame): Promise<void> {
    if (!(frame instanceof TooLong)) return this.#toServer(asBuffer(frame))
    const error = new ParleyError('MESSAGE_TOO_LONG', { limit: MAX_MESSAGE_BYTES })
    await this.#toClient(Buffer.from(`${errorMessage(requestBegunBy(frame.beginning), error)}\n`))
  }

  async #toServer(line: Buffer): Promise<void> {
    const offered = await this.#offered(line)
    if (offered !== undefined) return this.#toClient(offered)
    const socket = await this.#connectedServer()
    const lines = this.#state.fromClient(line)
    if (socket instanceof ParleyError) return this.#toClient(this.#state.giveUp(socket))
    if (lines.length > 0 && !socket.write(lines)) await drained(socket)
  }

  /**
   * The answer to the client's first `initialize`, while the server that would give it is being started: the client can go
   * on at once, and that server gets the same `initialize` before anything else. Undefined where the server must answer.
   */
  async #offered(line: Buffer): Promise<Buffer | undefined> {
    if (!this.#state.mayBeOffered(line)) return undefined
    while (this.#server.kind === 'connecting' && !this.#server.isStarting) await this.#changed.wait()
    if (this.#server.kind !== 'connecting') return undefined
    const result = await this.#deps.offers.find()
    // A server that has connected meanwhile does not know this request; the relay answers it.
    return result === undefined || this.#server.kind !== 'connecting' ? undefined : this.#state.offer(line, result)
  }

  /** The server as soon as it may be sent something, or why there is none. */
  async #connectedServer(): Promise<Duplex | ParleyError> {
    let hasTried = this.#server.kind !== 'absent'
    for (;;) {
      const server = this.#server
      if (server.kind === 'connected' && !this.#state.isHeldUp) return server.socket
      if (server.kind === 'absent') {
        if (hasTried) return server.why
        hasTried = true
        this.#connector.hurry()
        this.#become({ kind: 'connecting', isStarting: false })
      }
      await this.#changed.wait()
    }
  }

  /** One server after the other, for as long as there is a client. */
  async #serve(): Promise<void> {
    for (let socket = await this.#connect(); socket !== undefined; socket = await this.#nextServer()) {
      // The client left while this connection was being made.
      if (this.#isLeaving) return void socket.destroy()
      this.#become({ kind: 'connected', socket, isProven: false })
      const restored = this.#state.restore()
      if (restored.length > 0) socket.write(restored)
      await this.#readServer(socket)
      if (this.#isLeaving) return
    }
  }

  /** A server is gone: the next one is started at once, or with the next request if a user stopped the server. */
  async #nextServer(): Promise<Duplex | undefined> {
    const { ending } = this.#state
    const why = new ParleyError('SERVER_STOPPING', {})
    // Before the client is sent anything, which may take time: no message goes to the server that is gone.
    this.#become(ending === 'stopping' ? { kind: 'absent', why } : { kind: 'connecting', isStarting: false })
    if (ending === 'unexpected') this.#connector.failed()
    else this.#connector.succeeded()
    await this.#toClient(this.#state.lose())
    return this.#server.kind === 'absent' ? this.#awaitServer(why) : this.#connect()
  }

  /** Undefined once the client is gone. */
  async #connect(): Promise<Duplex | undefined> {
    try {
      return await this.#connector.connect()
    } catch (error) {
      const why = isParleyError(error) ? error : new ParleyError('SERVER_LOST', { reason: reasonOf(error) }, error)
      this.#deps.say(why.message)
      await this.#toClient(this.#state.giveUp(why))
      return this.#awaitServer(why)
    }
  }

  /** Until another program starts a server, the client sends a request, or it leaves. */
  async #awaitServer(why: ParleyError): Promise<Duplex | undefined> {
    const { server } = this.#deps
    this.#become({ kind: 'absent', why })
    for (let ms = PROBE_INTERVAL_MS.first; !this.#isLeaving; ms = Math.min(ms * 2, PROBE_INTERVAL_MS.longest)) {
      await Promise.race([server.pause(ms), this.#changed.wait()])
      if (this.#server.kind === 'connecting') return this.#connect()
      const socket = await server.dial().catch(() => undefined)
      if (socket !== undefined) return socket
    }
    return undefined
  }

  /** Until the server's side closes. It is read no faster than the client reads. */
  async #readServer(socket: Duplex): Promise<void> {
    // A server of ours sends no line without end.
    const framing = new LineFraming(Number.POSITIVE_INFINITY)
    // Not as an iterable, which would take as long for each token as all else that the relay does for it.
    socket.on('data', (bytes: Buffer) => {
      const frames = framing.push(bytes)
      if (frames.length === 0) return
      if (!this.#write(this.#fromServer(frames))) void this.#pauseUntilRead(socket)
      if (this.#state.isRefused) return void socket.destroy()
      if (this.#server.kind === 'connected' && !this.#server.isProven) this.#prove(this.#server)
    })
    await closed(socket)
    socket.destroy()
  }

  async #pauseUntilRead(socket: Duplex): Promise<void> {
    socket.pause()
    await drained(this.#deps.output)
    socket.resume()
  }

  #prove(server: Server & { readonly kind: 'connected' }): void {
    if (!this.#state.isRestored) return
    server.isProven = true
    this.#connector.succeeded()
  }

  /** Mostly the very bytes that came. */
  #fromServer(frames: readonly Frame[]): Buffer {
    const lines = frames.filter((frame) => frame instanceof Uint8Array).map(asBuffer)
    const passed = lines.map((line) => this.#state.fromServer(line))
    // The relay and the server have exchanged something; a request of the client may have waited for that.
    if (passed.some((line, index) => line !== lines[index])) this.#changed.signal()
    return joinAdjacent(passed)
  }

  async #toClient(lines: Buffer): Promise<void> {
    if (!this.#write(lines)) await drained(this.#deps.output)
  }

  /** False when the client has to read before it should be sent more. */
  #write(lines: Buffer): boolean {
    const { output } = this.#deps
    return lines.length === 0 || !output.writable || output.write(lines)
  }

  /** The client has closed its side. Responses that it waits for get a moment; turns that run continue. */
  async #leave(serving: Promise<void>): Promise<void> {
    if (this.#state.awaitsResponse) await this.#connectedServer()
    this.#isLeaving = true
    if (this.#server.kind === 'connected') {
      this.#server.socket.end(this.#state.leave())
      await this.#inTime(serving)
    }
    await this.#inTime(ended(this.#deps.output))
  }

  async #inTime(work: Promise<void>): Promise<void> {
    await Promise.race([work, this.#deps.server.pause(DRAIN_TIMEOUT_MS)])
  }

  #become(server: Server): void {
    this.#server = server
    this.#changed.signal()
  }
}

/** Wakes everything that waits for a change. */
class Condition {
  #signal: () => void = () => undefined
  #next = this.#renew()

  signal(): void {
    const signal = this.#signal
    this.#next = this.#renew()
    signal()
  }

  wait(): Promise<void> {
    return this.#next
  }

  #renew(): Promise<void> {
    return new Promise((resolve) => (this.#signal = resolve))
  }
}

/** Whether a last line that lacks its newline is a whole message all the same. */
function isComplete(frame: Frame): frame is Uint8Array {
  if (frame instanceof TooLong) return false
  const text = decodeUtf8(frame)
  return text !== undefined && parseMessage(text).kind !== 'unreadable'
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
}

/** One piece. Lines that stand side by side in memory, as they mostly do, are not copied. */
function joinAdjacent(lines: readonly Buffer[]): Buffer {
  const pieces: Buffer[] = []
  let start = 0
  for (const [index, line] of lines.entries()) {
    const next = lines[index + 1]
    if (next?.buffer === line.buffer && next.byteOffset === line.byteOffset + line.length) continue
    const first = lines[start] ?? line
    const length = line.byteOffset + line.length - first.byteOffset
    pieces.push(first === line ? line : Buffer.from(first.buffer, first.byteOffset, length))
    start = index + 1
  }
  const [only] = pieces
  return only !== undefined && pieces.length === 1 ? only : Buffer.concat(pieces)
}

/** Resolves when there is room again, or the stream is closed. */
function drained(stream: NodeJS.WritableStream): Promise<void> {
  return new Promise((resolve) => {
    if (!stream.writable) return resolve()
    const done = (): void => {
      stream.off('drain', done).off('close', done)
      resolve()
    }
    stream.once('drain', done).once('close', done)
  })
}

/** Resolves when all that came was read, or the connection broke. */
function closed(socket: Duplex): Promise<void> {
  return new Promise((resolve) => {
    if (socket.destroyed || socket.readableEnded) return resolve()
    // A connection that breaks has ended.
    socket
      .once('end', resolve)
      .once('close', resolve)
      .on('error', () => resolve())
  })
}

/** Resolves when everything written has been handed over, or the stream is closed. */
function ended(stream: NodeJS.WritableStream): Promise<void> {
  return new Promise((resolve) => {
    stream.once('close', resolve)
    stream.end(resolve)
  })
}
