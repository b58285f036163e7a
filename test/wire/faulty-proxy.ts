/** A proxy that is no good: it drops and freezes connections, lets later ones overtake earlier ones, and cuts at any byte. */
import { once } from 'node:events'
import { type AddressInfo, type NetConnectOpts, type Server, type Socket, connect, createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/** Where chance comes from, so that a seed can be typed in again. */
interface Chance {
  between(low: number, high: number): number
  happens(share: number): boolean
}

/** Bytes after which a connection breaks while the proxy is restless. */
const MOST_BYTES = 6_000
/** Milliseconds by which a connection may be late then. */
const MOST_LATE = 150

/** A port of loopback, or the path of a socket. */
export type Target = number | string

interface Pair {
  readonly near: Socket
  readonly far: Socket
  /** Bytes that may still pass before it breaks. */
  left: number
}

export class FaultyProxy {
  readonly #server: Server
  readonly #target: () => Target
  readonly #chance: Chance
  readonly #pairs = new Set<Pair>()
  #isFrozen = false
  #isRestless = false
  #isShut = false
  /** How many connections were broken. */
  broken = 0

  private constructor(server: Server, target: () => Target, chance: Chance) {
    this.#server = server
    this.#target = target
    this.#chance = chance
    server.on('connection', (near) => void this.#pass(near))
  }

  static async before(target: () => Target, chance: Chance): Promise<FaultyProxy> {
    const server = createServer({ allowHalfOpen: true }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    return new FaultyProxy(server, target, chance)
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  /** Breaks every connection. */
  cut(): void {
    for (const pair of this.#pairs) this.#break(pair)
  }

  /** Nothing passes for so long; it is not lost. */
  async freeze(ms: number): Promise<void> {
    this.#isFrozen = true
    for (const { near, far } of this.#pairs) for (const socket of [near, far]) socket.pause()
    await sleep(ms)
    this.#isFrozen = false
    for (const { near, far } of this.#pairs) for (const socket of [near, far]) socket.resume()
  }

  /** Connections come late and in another order, and each breaks within some bytes, for so long. */
  async fret(ms: number): Promise<void> {
    this.#isRestless = true
    for (const pair of this.#pairs) pair.left = this.#bytes()
    await sleep(ms)
    this.#isRestless = false
    for (const pair of this.#pairs) pair.left = Infinity
  }

  /** Nothing that is open stays, and nobody comes in, for so long. */
  async shut(ms: number): Promise<void> {
    this.#isShut = true
    this.cut()
    await sleep(ms)
    this.#isShut = false
  }

  close(): void {
    this.#server.close()
    this.cut()
  }

  async #pass(near: Socket): Promise<void> {
    near.on('error', () => undefined)
    near.pause()
    if (this.#isShut) return reset(near)
    if (this.#isRestless) await sleep(this.#chance.between(0, MOST_LATE))
    const far = connect({ ...placeOf(this.#target()), allowHalfOpen: true })
    const pair = { near, far, left: this.#isRestless ? this.#bytes() : Infinity }
    this.#pairs.add(pair)
    this.#carry(pair, near, far)
    this.#carry(pair, far, near)
    if (!this.#isFrozen) for (const socket of [near, far]) socket.resume()
  }

  #carry(pair: Pair, from: Socket, to: Socket): void {
    from.on('data', (bytes: Buffer) => {
      const passing = bytes.subarray(0, pair.left)
      pair.left -= passing.length
      to.write(passing)
      if (pair.left <= 0) this.#break(pair)
    })
    from.on('end', () => to.end())
    from.on('error', () => undefined)
    from.on('close', () => {
      to.destroy()
      this.#pairs.delete(pair)
    })
  }

  #break(pair: Pair): void {
    this.broken += 1
    this.#pairs.delete(pair)
    // What has been passed arrives; then there is no more.
    for (const socket of [pair.near, pair.far]) {
      if (this.#chance.happens(0.5)) socket.destroySoon()
      else reset(socket)
    }
  }

  #bytes(): number {
    return this.#chance.between(1, MOST_BYTES)
  }
}

function placeOf(target: Target): NetConnectOpts {
  return typeof target === 'number' ? { port: target, host: '127.0.0.1' } : { path: target }
}

/** Only TCP can say so; what else is connected just ends. */
function reset(socket: Socket): void {
  if (socket.remoteFamily === undefined) socket.destroy()
  else socket.resetAndDestroy()
}
