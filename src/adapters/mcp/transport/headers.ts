/** The headers that a client configured for a server, as far as they are not the protocol's own. */
import type { McpServer } from '../../../ports/tools.ts'

export type HttpServer = Extract<McpServer, { readonly type: 'http' | 'sse' }>

/** A configured header of such a name, however it is written, does not go out. */
const OURS: ReadonlySet<string> = new Set([
  'accept',
  'connection',
  'content-length',
  'content-type',
  'host',
  'last-event-id',
  'mcp-method',
  'mcp-name',
  'mcp-protocol-version',
  'mcp-session-id',
  'transfer-encoding',
])

/** By lower-case name; of two that differ only in how they are written the last one counts. */
export function configuredHeaders(server: HttpServer): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const [name, value] of server.headers) {
    const key = name.toLowerCase()
    if (!OURS.has(key)) headers[key] = value
  }
  return headers
}
