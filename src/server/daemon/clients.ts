/** Everyone who is connected to the server: served until they leave or the server does, each for itself. */
import { serveConnection } from '../../edge/acp/connection.ts'
import type { ServerContext } from '../../edge/acp/version.ts'
import type { Transport } from '../../edge/transport/transport.ts'
import type { Clock } from '../../ports/clock.ts'

/** How long a client is still sent what it is owed once its connection is over. Milliseconds. */
const FLUSH = 2_000

export class Clients {
  readonly #clock: Clock
  /** And their end, where that has begun. */
  readonly #wires = new Map<Transport, Promise<void> | undefined>()
  #lastSeen: number

  constructor(clock: Clock) {
    this.#clock = clock
    this.#lastSeen = clock.monotonicNow()
  }

  get count(): number {
    return this.#wires.size
  }

  /** When a client was last there, on the clock of what has elapsed. */
  get lastSeen(): number {
    return this.count > 0 ? this.#clock.monotonicNow() : this.#lastSeen
  }

  /** Never rejects: a connection that breaks is its own end and nobody else's. */
  async serve(wire: Transport, server: ServerContext): Promise<void> {
    this.#wires.set(wire, undefined)
    try {
      await serveConnection(wire, server)
    } catch (error) {
      server.report(error)
    } finally {
      await this.#close(wire)
      this.#wires.delete(wire)
      this.#lastSeen = this.#clock.monotonicNow()
    }
  }

  /** Sends everyone what they are owed, if they read it, and ends their connections. */
  async close(): Promise<void> {
    await Promise.all([...this.#wires.keys()].map((wire) => this.#close(wire)))
  }

  #close(wire: Transport): Promise<void> {
    const closing = this.#wires.get(wire) ?? this.#flush(wire)
    this.#wires.set(wire, closing)
    return closing
  }

  async #flush(wire: Transport): Promise<void> {
    const late = this.#clock.setTimer(FLUSH, () => wire.destroy())
    await wire.close()
    late.cancel()
    wire.destroy()
  }
}
