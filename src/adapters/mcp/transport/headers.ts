/** The headers that the user configured for a server, without those that the protocol sets itself. */
import type { McpServer } from '../../../ports/tools.ts'

export type HttpMcpServer = Extract<McpServer, { readonly type: 'http' | 'sse' }>

/** Configured headers with these names, in any case, are not sent. */
const RESERVED_HEADERS: ReadonlySet<string> = new Set([
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

/** By lower-case name; of two names that differ only in case the last counts. */
export function configuredHeaders(server: HttpMcpServer): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const [name, value] of server.headers) {
    const key = name.toLowerCase()
    if (!RESERVED_HEADERS.has(key)) headers[key] = value
  }
  return headers
}
