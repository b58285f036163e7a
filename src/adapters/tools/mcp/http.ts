/** MCP over Streamable HTTP and its predecessor, with a client of our own that never gives up on a quiet stream. */
import {
  SSEClientTransport,
  StreamableHTTPClientTransport,
  type FetchLike,
  type Transport,
} from '@modelcontextprotocol/client'
import { Agent, fetch as undiciFetch } from 'undici'
import type { McpServer } from '../../../ports/tools.ts'

/** Far more than a result may hold. */
const MESSAGE_LIMIT_BYTES = 64 * 1024 * 1024

type HttpServer = Extract<McpServer, { readonly type: 'http' | 'sse' }>

export interface HttpEvents {
  /** The stream of the server's own messages came back after it was lost: some may have been missed. */
  readonly onStreamBack: () => void
  /** The stream of the server's own messages cannot come back. */
  readonly onStreamGone: (reason: string) => void
}

export interface HttpLink {
  readonly transport: Transport
  /** Tells the server that its session is over. */
  end(): Promise<void>
  /** Closes every socket. */
  destroy(): Promise<void>
}

/** These are the protocol's; a configured header of the same name, however it is written, does not go out. */
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

/** The stream is asked for again as long as the connection lives; we decide when that ends. */
const RECONNECTION = {
  initialReconnectionDelay: 1000,
  maxReconnectionDelay: 30_000,
  reconnectionDelayGrowFactor: 1.5,
  maxRetries: Number.MAX_SAFE_INTEGER,
}

export function openHttp(server: HttpServer, events: HttpEvents): HttpLink {
  // A tool may think for longer than five minutes, and a stream may be silent for as long as it likes.
  const agent = new Agent({ headersTimeout: 0, bodyTimeout: 0 })
  const fetch = watched(async (url, init) => {
    const response = await undiciFetch(url, { ...(init as object), dispatcher: agent })
    return bounded(response as unknown as Response)
  }, events)
  const options = { fetch, requestInit: { headers: configuredHeaders(server) } }
  const destroy = (): Promise<void> => agent.destroy()
  if (server.type === 'sse') {
    return { transport: new SSEClientTransport(new URL(server.url), options), end: async () => undefined, destroy }
  }
  const transport = new StreamableHTTPClientTransport(new URL(server.url), {
    ...options,
    reconnectionOptions: RECONNECTION,
  })
  return { transport, end: () => transport.terminateSession(), destroy }
}

function configuredHeaders(server: HttpServer): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const [name, value] of server.headers) {
    const key = name.toLowerCase()
    if (!OURS.has(key)) headers[key] = value
  }
  return headers
}

/** An answer, or one line of a stream, that is longer breaks off: nobody could keep or show it. */
function bounded(response: Response): Response {
  if (response.body === null) return response
  const lines = response.headers.get('content-type')?.startsWith('text/event-stream') === true
  let size = 0
  const counter = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      const newline = lines ? chunk.lastIndexOf(10) : -1
      size = newline === -1 ? size + chunk.length : chunk.length - newline - 1
      if (size > MESSAGE_LIMIT_BYTES) throw new Error(`the answer is longer than ${MESSAGE_LIMIT_BYTES} bytes`)
      controller.enqueue(chunk)
    },
  })
  const { status, statusText, headers } = response
  return new Response(response.body.pipeThrough(counter), { status, statusText, headers })
}

/** Watches the server's own stream, of which the transport itself would only give up in silence. */
function watched(fetch: FetchLike, { onStreamBack, onStreamGone }: HttpEvents): FetchLike {
  let opened = false
  return async (url, init) => {
    if (init?.method !== 'GET') return await fetch(url, init)
    const again = opened
    try {
      const response = await fetch(url, init)
      if (response.ok) {
        opened = true
        if (again) onStreamBack()
      } else if (again) onStreamGone(`the server answered HTTP ${response.status} when asked for its messages again`)
      return response
    } catch (error) {
      if (again && init.signal?.aborted !== true) onStreamGone('the server cannot be reached any more')
      throw error
    }
  }
}
