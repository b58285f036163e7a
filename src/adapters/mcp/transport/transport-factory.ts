/** A transport to one server, fresh for every attempt to connect. */
import { SdkError, SdkErrorCode, type Transport } from '@modelcontextprotocol/client'
import { waitAtMost } from '../../../async/with-timeout.ts'
import type { McpServer } from '../../../ports/tools.ts'
import type { ConnectRequest, McpHostContext } from '../host/mcp-types.ts'
import type { Authorization } from '../oauth/authorization.ts'
import type { LoginNeeded } from './authorization.ts'
import type { HttpServer } from './headers.ts'
import type { openHttp } from './http.ts'
import type { StreamEvents } from './http-stream.ts'
import { StdioTransport } from './stdio.ts'
import type { Resumptions } from './response-sanitizer.ts'

export interface OpenTransport {
  readonly transport: Transport
  /** Why the other side is gone, if it is and said so. */
  readonly end: () => string | undefined
  /** Who has to log in first, said by a stream that has no other words for it. */
  readonly locked: () => LoginNeeded | undefined
  /** Says goodbye where the protocol has a word for it, and leaves nothing open. */
  close(): Promise<void>
}

interface TransportContext {
  readonly context: McpHostContext
  readonly request: Pick<ConnectRequest, 'label' | 'session' | 'signal'>
  readonly events: StreamEvents
  readonly resumptions: Resumptions
  readonly authorization: Authorization | undefined
}

/** For a server that does not answer the word of goodbye. */
const GOODBYE_MS = 2000

/** Throws when nobody wants the server any more. */
export async function openTransport(server: McpServer, cwd: string, here: TransportContext): Promise<OpenTransport> {
  const { context, request } = here
  if (server.type !== 'stdio') {
    // An HTTP client of our own is a megabyte of code; only who has a server behind a URL pays for it.
    const http = await import('./http.ts')
    if (request.signal.aborted) throw new SdkError(SdkErrorCode.ConnectionClosed, 'the connection was closed')
    return httpLink(server, here, http.openHttp)
  }
  const { command, args, env } = server
  const transport = new StdioTransport({
    processes: context.processes,
    clock: context.clock,
    graceMs: context.limits.graceMs,
    onStart: (pid) => context.started?.({ server: request.label, session: request.session, command, args, pid }),
    spec: { command, args, env, cwd },
  })
  return { transport, locked: () => undefined, end: () => transport.end, close: () => transport.close() }
}

function httpLink(
  server: HttpServer,
  { context, events, resumptions, authorization }: TransportContext,
  open: typeof openHttp,
): OpenTransport {
  const { clock } = context
  let end: string | undefined
  let needed: LoginNeeded | undefined
  const http = open(server, {
    clock,
    resumptions,
    authorization,
    onLocked: (login) => (needed = login),
    events: {
      ...events,
      onStreamGone(reason) {
        if (end !== undefined) return
        end = reason
        // Where the one stream is the session, no open answer can come any more: all who wait are told.
        if (server.type === 'sse') void http.transport.close()
        else events.onStreamGone(reason)
      },
    },
  })
  return {
    transport: http.transport,
    locked: () => needed,
    end: () => end,
    async close() {
      end ??= 'the connection was closed'
      // A server that cannot hear the goodbye has already forgotten us, or will.
      await waitAtMost(
        http.end().catch(() => undefined),
        { clock, ms: GOODBYE_MS },
      )
      await http.transport.close()
      await http.destroy()
    },
  }
}
