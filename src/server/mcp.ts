/** How the MCP servers of live sessions are: what anyone who may hear of sessions can ask. */
import type { ServerStatus } from '../ports/tools.ts'
import type { Owner } from './compose.ts'

/** As programs see it, on the wire. */
export interface LiveMcp {
  readonly sessions: readonly { readonly sessionId: string; readonly servers: readonly ServerStatus[] }[]
}

/** The method of the wire. */
export function mcpMethod({
  mcp,
}: Pick<Owner, 'mcp'>): Readonly<Record<string, (params: unknown) => Promise<unknown>>> {
  return {
    '_parley/servers': async (): Promise<LiveMcp> => ({
      sessions: mcp().map(({ session: sessionId, servers }) => ({ sessionId, servers })),
    }),
  }
}
