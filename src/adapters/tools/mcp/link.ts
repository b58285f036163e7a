/** A transport to one server, fresh for every attempt to connect. */
import type { Transport } from '@modelcontextprotocol/client'
import type { McpServer } from '../../../ports/tools.ts'
import type { Surroundings } from '../connection.ts'
import { openHttp, type HttpEvents } from './http.ts'
import { StdioTransport } from './stdio-transport.ts'

export interface Link {
  readonly transport: Transport
  /** Why the other side is gone, if it is and said so. */
  readonly end: () => string | undefined
  /** Says goodbye where the protocol has a word for it, and leaves nothing open. */
  close(): Promise<void>
}

/** For a server that does not answer the word of goodbye. */
const GOODBYE_MS = 2000

export function openLink(
  server: McpServer,
  cwd: string,
  { around, events }: { readonly around: Surroundings; readonly events: HttpEvents },
): Link {
  if (server.type !== 'stdio') return httpLink(openHttp(server, events), around)
  const { command, args, env } = server
  const transport = new StdioTransport({
    processes: around.processes,
    clock: around.clock,
    graceMs: around.limits.graceMs,
    spec: { command, args, env, cwd },
  })
  return { transport, end: () => transport.end, close: () => transport.close() }
}

function httpLink(http: ReturnType<typeof openHttp>, { clock }: Surroundings): Link {
  return {
    transport: http.transport,
    end: () => undefined,
    async close() {
      // A server that cannot hear the goodbye has already forgotten us, or will.
      const patience = new Promise<void>((over) => clock.after(GOODBYE_MS, over))
      await Promise.race([http.end().catch(() => undefined), patience])
      await http.transport.close()
      await http.destroy()
    },
  }
}
