/** Remembers which servers speak the older protocol, so that the newer one is offered to them only once a day. */
import type { Clock } from '../../../ports/clock.ts'
import type { McpServer } from '../../../ports/tools.ts'

/** The older protocol keeps working after a server was updated, so only time ends an entry. */
const VALID_MS = 24 * 60 * 60 * 1000
const MAX_SERVERS = 1000

export class ProtocolCache {
  readonly #clock: Clock
  /** When each was found to speak it. */
  readonly #legacy = new Map<string, number>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  isLegacy(server: McpServer): boolean {
    const at = this.#legacy.get(keyOf(server))
    return at !== undefined && this.#clock.monotonicNow() - at < VALID_MS
  }

  foundLegacy(server: McpServer): void {
    if (this.#legacy.size >= MAX_SERVERS) this.#legacy.clear()
    this.#legacy.set(keyOf(server), this.#clock.monotonicNow())
  }

  /** Called when the remembered protocol did not work. */
  forget(server: McpServer): void {
    this.#legacy.delete(keyOf(server))
  }
}

/** Name, environment and headers of a server do not affect its protocol. */
function keyOf(server: McpServer): string {
  return JSON.stringify(server.type === 'stdio' ? [server.command, server.args] : [server.type, server.url])
}
