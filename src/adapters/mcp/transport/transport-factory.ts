/** Opens the transport to one server, a new one for every connect attempt. */
import { SdkError, SdkErrorCode, type Transport } from '@modelcontextprotocol/client'
import { waitAtMost } from '../../../async/with-timeout.ts'
import type { McpServer } from '../../../ports/tools.ts'
import type { ConnectRequest, McpHostContext } from '../host/mcp-types.ts'
import type { Authorization } from '../oauth/authorization.ts'
import type { LoginNeeded } from './authorization.ts'
import type { HttpMcpServer } from './headers.ts'
import type { openHttp } from './http.ts'
import type { StreamEvents } from './http-stream.ts'
import { StdioTransport } from './stdio.ts'
import type { Resumptions } from './response-sanitizer.ts'

export interface OpenTransport {
  /** The SDK's part of it. */
  readonly sdk: Transport
  /** Why the server ended, if it did and the reason is known. */
  readonly end: () => string | undefined
  /** The required login that a stream reported; the SDK has no error for it. */
  readonly locked: () => LoginNeeded | undefined
  /** Ends the session at the server where the protocol can, and closes everything. */
  close(): Promise<void>
}

interface TransportContext {
  readonly context: McpHostContext
  readonly request: Pick<ConnectRequest, 'label' | 'session' | 'signal'>
  readonly events: StreamEvents
  readonly resumptions: Resumptions
  readonly authorization: Authorization | undefined
}

/** For the server to confirm the end of the session. */
const END_SESSION_TIMEOUT_MS = 2000

/** Throws when the attempt was cancelled. */
export async function openMcpTransport(server: McpServer, cwd: string, here: TransportContext): Promise<OpenTransport> {
  const { context, request } = here
  if (server.type !== 'stdio') {
    // The HTTP client is a megabyte of code, so only servers behind a URL load it.
    const http = await import('./http.ts')
    if (request.signal.aborted) throw new SdkError(SdkErrorCode.ConnectionClosed, 'the connection was closed')
    return openHttpTransport(server, here, http.openHttp)
  }
  const { command, args, env } = server
  const transport = new StdioTransport({
    processes: context.processes,
    clock: context.clock,
    graceMs: context.limits.graceMs,
    onStart: (pid) => context.started?.({ server: request.label, session: request.session, command, args, pid }),
    spec: { command, args, env, cwd },
  })
  return { sdk: transport, locked: () => undefined, end: () => transport.end, close: () => transport.close() }
}

function openHttpTransport(
  server: HttpMcpServer,
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
        // With SSE the stream is the session: no open answer can arrive any more, so all requests fail now.
        if (server.type === 'sse') void http.transport.close()
        else events.onStreamGone(reason)
      },
    },
  })
  return {
    sdk: http.transport,
    locked: () => needed,
    end: () => end,
    async close() {
      end ??= 'the connection was closed'
      // A server that cannot be reached drops the session by itself.
      await waitAtMost(
        http.end().catch(() => undefined),
        { clock, ms: END_SESSION_TIMEOUT_MS },
      )
      await http.transport.close()
      await http.destroy()
    },
  }
}
