/** Remembers which servers speak the older protocol, so that the newer one is offered to them only once a day. */
import type { Clock } from '../../../ports/clock.ts'
import type { McpServer } from '../../../ports/tools.ts'

export interface ProtocolCache {
  isLegacy(server: McpServer): boolean
  foundLegacy(server: McpServer): void
  /** Called when the remembered protocol did not work. */
  forget(server: McpServer): void
}

/** The older protocol keeps working after a server was updated, so only time ends an entry. */
const VALID_MS = 24 * 60 * 60 * 1000
const MAX_SERVERS = 1000

export function openProtocolCache(clock: Clock): ProtocolCache {
  const legacy = new Map<string, number>()
  return {
    isLegacy(server) {
      const at = legacy.get(keyOf(server))
      return at !== undefined && clock.monotonicNow() - at < VALID_MS
    },
    foundLegacy(server) {
      if (legacy.size >= MAX_SERVERS) legacy.clear()
      legacy.set(keyOf(server), clock.monotonicNow())
    },
    forget: (server) => void legacy.delete(keyOf(server)),
  }
}

/** Name, environment and headers of a server do not affect its protocol. */
function keyOf(server: McpServer): string {
  return JSON.stringify(server.type === 'stdio' ? [server.command, server.args] : [server.type, server.url])
}
