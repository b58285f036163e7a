/** MCP over Streamable HTTP, and over the older HTTP with SSE, with our own HTTP client, which has no timeout for silent streams. */
import {
  SSEClientTransport,
  StreamableHTTPClientTransport,
  type FetchLike,
  type Transport,
} from '@modelcontextprotocol/client'
import type { Clock } from '../../../ports/clock.ts'
import type { Authorization } from '../oauth/authorization.ts'
import { authorized, type LoginNeeded } from './authorization.ts'
import { withoutBatches } from './incoming-json.ts'
import { configuredHeaders, type HttpMcpServer } from './headers.ts'
import { keepingStream, reconnection, type StreamEvents } from './http-stream.ts'
import { openNetwork } from './network.ts'
import { ReadThrottle } from './read-throttle.ts'
import type { Resumptions } from './response-sanitizer.ts'

interface HttpOptions {
  readonly clock: Clock
  readonly events: StreamEvents
  readonly resumptions: Resumptions
  readonly authorization?: Authorization | undefined
  /** Called when the connection is useless until the user has logged in. */
  readonly onLocked: (login: LoginNeeded) => void
}

interface HttpConnection {
  readonly transport: Transport
  /** Ends the session at the server. */
  end(): Promise<void>
  /** Closes every socket. */
  destroy(): Promise<void>
}

export function openHttp(server: HttpMcpServer, context: HttpOptions): HttpConnection {
  const { clock, events, resumptions, authorization, onLocked } = context
  const network = openNetwork(server)
  const throttle = new ReadThrottle(clock)
  const paced: FetchLike = async (address, init) =>
    throttle.throttled(await withoutBatches(await network.fetch(address, init)))
  const requestInit = { headers: configuredHeaders(server) }
  const url = new URL(server.url)
  const fetch = authorization === undefined ? paced : authorized(paced, url, { authorization, onLocked })
  if (server.type === 'sse') {
    const transport = new SSEClientTransport(url, { requestInit, fetch: onlyOneStream(fetch, events) })
    return { transport: answeringIn(throttle, transport), end: async () => undefined, destroy: () => network.destroy() }
  }
  const transport = new StreamableHTTPClientTransport(url, {
    requestInit,
    fetch: keepingStream(accepted(fetch), { events, resumptions }),
    ...reconnection(clock),
  })
  return {
    transport: answeringIn(throttle, transport),
    end: () => transport.terminateSession(),
    destroy: () => network.destroy(),
  }
}

/** Counts only our answers to the server; our own requests may take as long as a tool does. */
function answeringIn(throttle: ReadThrottle, transport: Transport): Transport {
  const send = transport.send.bind(transport)
  transport.send = (message, options) => {
    const sent = send(message, options)
    return 'method' in message ? sent : throttle.answering(sent)
  }
  return transport
}

/** The SDK opens the stream of server messages only after a 202; some servers answer 200 or 204. */
function accepted(fetch: FetchLike): FetchLike {
  return async (url, init) => {
    const response = await fetch(url, init)
    if (init?.method !== 'POST' || ![200, 204].includes(response.status) || !isNotification(init.body)) return response
    await response.body?.cancel()
    return new Response(null, { status: 202, headers: response.headers })
  }
}

function isNotification(body: unknown): boolean {
  return typeof body === 'string' && body.startsWith('{') && !('id' in (JSON.parse(body) as object))
}

/** HTTP with SSE has its whole session in one stream; a second stream would be another session. */
function onlyOneStream(fetch: FetchLike, { onStreamGone }: StreamEvents): FetchLike {
  let opened = false
  return async (url, init) => {
    if (init?.method === 'POST') return await fetch(url, init)
    if (opened) throw new Error('the stream of events is over')
    const response = await fetch(url, init)
    if (!response.ok || response.body === null) return response
    opened = true
    const over = new TransformStream<Uint8Array, Uint8Array>()
    void response.body.pipeTo(over.writable).then(
      () => onStreamGone('its stream of events ended'),
      () => onStreamGone('its stream of events broke off'),
    )
    return new Response(over.readable, { status: response.status, headers: response.headers })
  }
}
