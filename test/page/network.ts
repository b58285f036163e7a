/** The way between a browser and its server, as bad as a test wants it: cut, frozen, or with handshakes that nobody answers. */
import { once } from 'node:events'
import { type AddressInfo, type Server, type Socket, connect, createServer } from 'node:net'

type State = 'open' | 'frozen' | 'mute' | 'away'

export class Network {
  readonly #server: Server
  readonly #target: () => number
  readonly #sockets = new Set<Socket>()
  readonly #unanswered = new Set<Socket>()
  #state: State = 'open'
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
    far.pipe(near)
  }
}
