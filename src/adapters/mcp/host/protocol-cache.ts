/** Remembers which servers speak the older protocol, so that they are asked for the newer one only now and then. */
import type { Clock } from '../../../ports/clock.ts'
import type { McpServer } from '../../../ports/tools.ts'

export interface ProtocolCache {
  isLegacy(server: McpServer): boolean
  foundLegacy(server: McpServer): void
  /** What was remembered did not hold. */
  forget(server: McpServer): void
}

/** An old verdict goes on working after the server was updated, so nothing but time ends it. */
const BELIEVED_MS = 24 * 60 * 60 * 1000
const MOST = 1000

export function openProtocolCache(clock: Clock): ProtocolCache {
  const legacy = new Map<string, number>()
  return {
    isLegacy(server) {
      const at = legacy.get(keyOf(server))
      return at !== undefined && clock.monotonicNow() - at < BELIEVED_MS
    },
    foundLegacy(server) {
      if (legacy.size >= MOST) legacy.clear()
      legacy.set(keyOf(server), clock.monotonicNow())
    },
    forget: (server) => void legacy.delete(keyOf(server)),
  }
}

/** What a server is called and which keys it is given have nothing to do with what it speaks. */
function keyOf(server: McpServer): string {
  return JSON.stringify(server.type === 'stdio' ? [server.command, server.args] : [server.type, server.url])
}
