/** The connected clients of the server: each is served until it disconnects or the server stops. */
import { serveConnection } from '../../edge/acp/connection.ts'
import type { ServerContext } from '../../edge/acp/version.ts'
import type { Transport } from '../../edge/transport/transport.ts'
import type { Clock } from '../../ports/clock.ts'

/** How long a closing connection may take to send what is buffered. */
const FLUSH_TIMEOUT_MS = 2_000

export class Clients {
  readonly #clock: Clock
  /** Each with its close, once that has begun. */
  readonly #wires = new Map<Transport, Promise<void> | undefined>()
  #lastSeen: number
  #serve: typeof serveConnection = serveConnection

  constructor(clock: Clock) {
    this.#clock = clock
    this.#lastSeen = clock.monotonicNow()
  }

  get count(): number {
    return this.#wires.size
  }

  /** When a client was last connected, on the monotonic clock. */
  get lastSeen(): number {
    return this.count > 0 ? this.#clock.monotonicNow() : this.#lastSeen
  }

  /** Serves clients with this function from now on, because their sessions may be on other nodes. */
  serveBy(serve: typeof serveConnection): void {
    this.#serve = serve
  }

  /** Never rejects: a connection that breaks ends alone. */
  async serve(wire: Transport, server: ServerContext): Promise<void> {
    this.#wires.set(wire, undefined)
    try {
      await this.#serve(wire, server)
    } catch (error) {
      server.report(error)
    } finally {
      await this.#close(wire)
      this.#wires.delete(wire)
      this.#lastSeen = this.#clock.monotonicNow()
    }
  }

  /** Flushes and closes every connection. */
  async close(): Promise<void> {
    await Promise.all([...this.#wires.keys()].map((wire) => this.#close(wire)))
  }

  #close(wire: Transport): Promise<void> {
    const closing = this.#wires.get(wire) ?? this.#flush(wire)
    this.#wires.set(wire, closing)
    return closing
  }

  async #flush(wire: Transport): Promise<void> {
    const late = this.#clock.setTimer(FLUSH_TIMEOUT_MS, () => wire.destroy())
    await wire.close()
    late.cancel()
    wire.destroy()
  }
}
