/** The way between a browser and its server, as bad as a test wants it: cut, frozen, slow, or with handshakes that nobody answers. */
import { once } from 'node:events'
import { type AddressInfo, type Server, type Socket, connect, createServer } from 'node:net'
import { Transform } from 'node:stream'

type State = 'open' | 'frozen' | 'mute' | 'away'

export class Network {
  readonly #server: Server
  readonly #target: () => number
  readonly #sockets = new Set<Socket>()
  readonly #unanswered = new Set<Socket>()
  #state: State = 'open'
  #bytesPerMs = Number.POSITIVE_INFINITY
  /** Goes on with what waits for its turn. */
  readonly #waiting = new Set<() => void>()
  /** Counts connections that were taken. */
  taken = 0

  private constructor(server: Server, target: () => number) {
    this.#server = server
    this.#target = target
    server.on('connection', (near: Socket) => this.#taken(near))
  }

  static async before(target: () => number): Promise<Network> {
    const server = createServer()
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return new Network(server, target)
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`
  }

  /** Connections that are there stay so and carry nothing; new ones get no answer. */
  freeze(): void {
    this.#state = 'frozen'
    for (const socket of this.#sockets) socket.pause()
  }

  /** New connections get no answer; those that are there go on. */
  mute(): void {
    this.#state = 'mute'
  }

  /** Ends all connections, and refuses new ones until `open`. */
  cut(): void {
    this.#state = 'away'
    for (const socket of this.#sockets) socket.destroy()
  }

  /** What comes from the server comes at this rate, on all connections; without one, as fast as it can. */
  slow(bytesPerSecond = Number.POSITIVE_INFINITY): void {
    this.#bytesPerMs = bytesPerSecond / 1_000
    for (const goOn of this.#waiting) goOn()
  }

  open(): void {
    const before = this.#state
    this.#state = 'open'
    if (before !== 'frozen') return
    for (const socket of this.#unanswered) socket.destroy()
    for (const socket of this.#sockets) socket.resume()
  }

  async close(): Promise<void> {
    this.cut()
    this.#server.close()
    await once(this.#server, 'close')
  }

  #taken(near: Socket): void {
    this.taken += 1
    near.on('error', () => near.destroy())
    this.#sockets.add(near)
    near.once('close', () => this.#sockets.delete(near))
    if (this.#state === 'away') return void near.destroy()
    if (this.#state !== 'open') return void this.#unanswered.add(near)
    const far = connect(this.#target(), '127.0.0.1')
    this.#sockets.add(far)
    far.on('error', () => near.destroy())
    far.once('close', () => {
      this.#sockets.delete(far)
      near.destroy()
    })
    near.once('close', () => far.destroy())
    near.pipe(far)
    far.pipe(this.#paced()).pipe(near)
  }

  #paced(): Transform {
    return new Transform({
      transform: (chunk: Buffer, _encoding, done) => {
        const goOn = (): void => {
          clearTimeout(timer)
          if (this.#waiting.delete(goOn)) done(null, chunk)
        }
        this.#waiting.add(goOn)
        const timer = setTimeout(goOn, chunk.length / this.#bytesPerMs)
      },
    })
  }
}
