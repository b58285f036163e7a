/** `parley acp`: an editor's stdin and stdout on one side, the server on the other, whatever becomes of the server. */
import type { Socket } from 'node:net'
import { ParleyError, isParleyError, reasonOf } from '../errors/parley-error.ts'
import { RelayState } from './state/relay-state.ts'
import type { Handshake } from './handshake.ts'
import { LONGEST_LINE, LineCutter, linesOf } from './lines.ts'
import { errorLine, read } from './messages.ts'
import { Connector, type ConnectorDeps } from './connector.ts'

export interface RelayDeps extends ConnectorDeps {
  readonly input: AsyncIterable<Buffer>
  readonly output: NodeJS.WritableStream
  readonly introduction: Handshake
  newId(): string
  /** To a person; never to the client. */
  say(sentence: string): void
}

/** How long a client that has left may still be answered. Milliseconds. */
const FAREWELL = 2_000
/** How often it is looked whether somebody else has started a server. Milliseconds. */
const GLANCE = { first: 50, longest: 1_000 }

/** Resolves when the client has closed its side and what it sent has been passed on; the sessions live on. */
export async function relay(surroundings: RelayDeps): Promise<void> {
  await new Relay(surroundings).run()
}

type Server =
  | { readonly kind: 'sought' }
  | { readonly kind: 'there'; readonly socket: Socket }
  /** It stopped in order, or cannot be had; it is sought when the client wants something. */
  | { readonly kind: 'not wanted'; readonly why: ParleyError }

class Relay {
  readonly #around: RelayDeps
  readonly #search: Connector
  readonly #conversation: RelayState
  readonly #bell = new Bell()
  #server: Server = { kind: 'sought' }
  #isLeaving = false

  constructor(around: RelayDeps) {
    this.#around = around
    this.#search = new Connector(around)
    this.#conversation = new RelayState({
      introduction: around.introduction,
      newId: () => around.newId(),
      ask: (line) => void (this.#server.kind === 'there' && this.#server.socket.write(line)),
      tell: (line) => void this.#tell(line),
      say: (sentence) => around.say(sentence),
    })
  }

  async run(): Promise<void> {
    this.#around.output.on('error', () => {
      // The client reads no more; what it has still to say is passed on, and then it ends.
    })
    const serving = this.#serve()
    await this.#listen()
    await this.#leave(serving)
  }

  /** Passes the client's lines on for as long as it has some. Where there is no server they wait, and the client with them. */
  async #listen(): Promise<void> {
    const cutter = new LineCutter(LONGEST_LINE)
    try {
      for await (const bytes of this.#around.input) {
        for (const line of linesOf(cutter.push(bytes))) await this.#pass(line)
        if (cutter.refuse())
          await this.#tell(errorLine(null, new ParleyError('MESSAGE_TOO_LONG', { limit: LONGEST_LINE })))
      }
    } catch {
      // A pipe that breaks is one that was closed.
    }
    const last = cutter.rest()
    if (read(last) !== undefined) await this.#pass(Buffer.concat([last, Buffer.from('\n')]))
  }

  async #pass(line: Buffer): Promise<void> {
    const socket = await this.#reached()
    const passed = this.#conversation.fromClient(line)
    if (socket instanceof ParleyError) return this.#tell(this.#conversation.giveUp(socket))
    if (passed.length > 0 && !socket.write(passed)) await drained(socket)
  }

  /** The server, once it can be asked; or why there is none. */
  async #reached(): Promise<Socket | ParleyError> {
    let wasWanted = this.#server.kind !== 'not wanted'
    for (;;) {
      const server = this.#server
      if (server.kind === 'there' && !this.#conversation.waitsForRoom) return server.socket
      if (server.kind === 'not wanted') {
        if (wasWanted) return server.why
        wasWanted = true
        this.#search.wanted()
        this.#become({ kind: 'sought' })
      }
      await this.#bell.rung()
    }
  }

  /** One server after the other, for as long as there is a client. */
  async #serve(): Promise<void> {
    for (let socket = await this.#find(); ; socket = await this.#next()) {
      this.#become({ kind: 'there', socket })
      const restored = this.#conversation.restore()
      if (restored.length > 0) socket.write(restored)
      await this.#hear(socket)
      if (this.#isLeaving) return
    }
  }

  /** The one after a server that is gone: at once, or when somebody wants one if it stopped because somebody wanted that. */
  async #next(): Promise<Socket> {
    const { end } = this.#conversation
    const why = new ParleyError('SERVER_STOPPING', {})
    // Before the client is told, which may take its time: nothing more goes to the one that is gone.
    this.#become(end === 'stops' ? { kind: 'not wanted', why } : { kind: 'sought' })
    if (end === 'unforeseen') this.#search.failed()
    else this.#search.succeeded()
    await this.#tell(this.#conversation.lose())
    return this.#server.kind === 'not wanted' ? this.#rest(why) : this.#find()
  }

  async #find(): Promise<Socket> {
    try {
      return await this.#search.find()
    } catch (error) {
      const why = isParleyError(error) ? error : new ParleyError('SERVER_LOST', { reason: reasonOf(error) }, error)
      this.#around.say(why.message)
      await this.#tell(this.#conversation.giveUp(why))
      return this.#rest(why)
    }
  }

  /** Until a server appears or the client wants one. */
  async #rest(why: ParleyError): Promise<Socket> {
    this.#become({ kind: 'not wanted', why })
    for (let ms = GLANCE.first; ; ms = Math.min(ms * 2, GLANCE.longest)) {
      await Promise.race([this.#around.pause(ms), this.#bell.rung()])
      if (this.#server.kind === 'sought') return this.#find()
      const socket = await this.#around.dial().catch(() => undefined)
      if (socket !== undefined) return socket
    }
  }

  /** What the server says, for as long as it does; it is read no faster than the client reads. */
  async #hear(socket: Socket): Promise<void> {
    const cutter = new LineCutter()
    try {
      for await (const bytes of socket) {
        const whole = cutter.push(bytes as Buffer)
        if (whole.length === 0) continue
        await this.#tell(this.#heard(whole))
        if (this.#conversation.isWhole) this.#search.succeeded()
      }
    } catch {
      // A connection that breaks has ended; what comes next is decided by how.
    }
  }

  /** Mostly the very bytes that came. */
  #heard(whole: Buffer): Buffer {
    const parts: Buffer[] = []
    let passed = 0
    let at = 0
    for (const line of linesOf(whole)) {
      const told = this.#conversation.fromServer(line)
      at += line.length
      if (told === line) continue
      parts.push(whole.subarray(passed, at - line.length), told)
      passed = at
    }
    if (parts.length === 0) return whole
    // Something was said between the server and us; somebody may have waited for it.
    this.#bell.ring()
    return Buffer.concat([...parts, whole.subarray(passed)])
  }

  async #tell(lines: Buffer): Promise<void> {
    const { output } = this.#around
    if (lines.length > 0 && output.writable && !output.write(lines)) await drained(output)
  }

  /** The client is gone. What it still waits for is given a moment; what runs goes on without it. */
  async #leave(serving: Promise<void>): Promise<void> {
    if (this.#conversation.isOwed) await this.#reached()
    this.#isLeaving = true
    if (this.#server.kind === 'there') {
      this.#server.socket.end()
      await this.#inTime(serving)
    }
    await this.#inTime(ended(this.#around.output))
  }

  async #inTime(what: Promise<void>): Promise<void> {
    await Promise.race([what, this.#around.pause(FAREWELL)])
  }

  #become(server: Server): void {
    this.#server = server
    this.#bell.ring()
  }
}

/** Wakes whoever waits for something to have changed. */
class Bell {
  #ring: () => void = () => undefined
  #next = this.#another()

  ring(): void {
    const ring = this.#ring
    this.#next = this.#another()
    ring()
  }

  rung(): Promise<void> {
    return this.#next
  }

  #another(): Promise<void> {
    return new Promise((resolve) => (this.#ring = resolve))
  }
}

/** Resolves when there is room again; nobody need wait for a stream that is closed. */
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

/** All that was written has been handed over, or nobody takes it. */
function ended(stream: NodeJS.WritableStream): Promise<void> {
  return new Promise((resolve) => {
    stream.once('close', resolve)
    stream.end(resolve)
  })
}
