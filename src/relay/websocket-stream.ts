/** A WebSocket as a stream of lines in both directions. */
import { Duplex } from 'node:stream'
import type { WebSocket } from 'ws'

/** Frames as lines, each with its newline. */
export class WebSocketStream extends Duplex {
  readonly #socket: WebSocket
  readonly #ping: NodeJS.Timeout
  #rest = ''
  #isAlive = true

  /** The other side must be heard within two of `pingMs`. */
  constructor(socket: WebSocket, pingMs: number) {
    super({ allowHalfOpen: false })
    this.#socket = socket
    socket.on('message', (data: Buffer) => {
      this.#isAlive = true
      if (!this.push(`${data.toString()}\n`)) socket.pause()
    })
    socket.on('pong', () => (this.#isAlive = true))
    socket.on('close', () => this.#ended())
    socket.on('error', () => this.#ended())
    this.#ping = setInterval(() => this.#check(), pingMs)
    this.#ping.unref()
  }

  override _read(): void {
    this.#socket.resume()
  }

  override _write(bytes: Buffer, _encoding: string, done: (error?: Error | null) => void): void {
    const lines = `${this.#rest}${bytes.toString()}`.split('\n')
    this.#rest = lines.pop() ?? ''
    const text = lines.filter((line) => line !== '').join('\n')
    // The reader sees the end.
    if (text === '' || this.#socket.readyState !== this.#socket.OPEN) return done()
    this.#socket.send(text, () => done())
  }

  override _final(done: () => void): void {
    this.#socket.close(1000)
    done()
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    clearInterval(this.#ping)
    this.#socket.terminate()
    done(error)
  }

  /** A connection of which nothing is heard is one no longer. */
  #check(): void {
    // While we do not read, nothing can be heard.
    if (!this.#isAlive && !this.#socket.isPaused) return this.#socket.terminate()
    this.#isAlive = false
    this.#socket.ping()
  }

  #ended(): void {
    clearInterval(this.#ping)
    if (!this.readableEnded) this.push(null)
  }
}
