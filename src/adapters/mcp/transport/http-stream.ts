/** Reopens broken streams of Streamable HTTP: the stream of server messages for the life of the connection, the stream of an answer while the server can resume it. */
import type { FetchLike, StreamableHTTPClientTransportOptions } from '@modelcontextprotocol/client'
import { backoffMs } from '../../../async/backoff.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { Resumptions } from './response-sanitizer.ts'

export interface StreamEvents {
  /** The stream of server messages is open again after it was lost; messages may have been missed. */
  readonly onStreamBack: () => void
  /** The stream of server messages cannot be reopened. */
  readonly onStreamGone: (reason: string) => void
}

interface Keeping {
  readonly events: StreamEvents
  readonly resumptions: Resumptions
}

const BACKOFF = { firstMs: 300, longestMs: 30_000, factor: 1.5 }
/** Least pause, so that a server that asks for none is not polled in a loop. */
const MIN_PAUSE_MS = 50
/** Failures in a row: the server may be unreachable, or still hold our former stream for open. */
const MAX_FAILURES = 4
/** Statuses that another attempt does not change. */
const FINAL_STATUSES: ReadonlySet<number> = new Set([400, 401, 403, 404, 405, 410])

/** The SDK retries without a limit; `keepingStream` below decides when to stop. */
export function reconnection(
  clock: Clock,
): Pick<StreamableHTTPClientTransportOptions, 'reconnectionOptions' | 'reconnectionScheduler'> {
  return {
    reconnectionOptions: {
      initialReconnectionDelay: BACKOFF.firstMs,
      maxReconnectionDelay: BACKOFF.longestMs,
      reconnectionDelayGrowFactor: BACKOFF.factor,
      maxRetries: Number.MAX_SAFE_INTEGER,
    },
    reconnectionScheduler(reconnect, wanted, attempt) {
      // The pause that the server wants counts for the first attempt; after a failure the pause grows anyway.
      const grown = attempt === 0 ? MIN_PAUSE_MS : backoffMs(attempt + 1, BACKOFF)
      const timer = clock.setTimer(Math.min(Math.max(wanted, grown), BACKOFF.longestMs), reconnect)
      return () => timer.cancel()
    },
  }
}

/** Wraps the GET requests of one protocol session. */
export function keepingStream(fetch: FetchLike, { events, resumptions }: Keeping): FetchLike {
  const own = serverStream(fetch, events)
  const failures = new Map<string, number>()
  return async (url, init) => {
    if (init?.method !== 'GET') return await fetch(url, init)
    const token = new Headers(init.headers).get('last-event-id')
    if (token === null || !resumptions.has(token)) return await own(url, init)
    const count = (failures.get(token) ?? 0) + 1
    failures.set(token, count)
    const response = await resumed(fetch(url, init), count)
    if (response.ok) failures.delete(token)
    return response
  }
}

/** Requests the rest of an answer. A server that cannot resume it, or stays unreachable, has lost it. */
async function resumed(fetched: Promise<Response>, count: number): Promise<Response> {
  const response = await fetched.catch((error: unknown) => {
    if (count < MAX_FAILURES) throw error
    return undefined
  })
  if (response?.ok === true) return response
  const isFinal = response === undefined || response.status < 500 || count >= MAX_FAILURES
  // On 405 the SDK stops without an error.
  return isFinal ? new Response(null, { status: 405 }) : response
}

/** The stream of server messages. The SDK would give it up silently. */
function serverStream(fetch: FetchLike, { onStreamBack, onStreamGone }: StreamEvents): FetchLike {
  let was: 'not requested' | 'awaited' | 'open' = 'not requested'
  let failures = 0

  function refused(status: number | undefined): Response | undefined {
    failures += 1
    const final = status !== undefined && FINAL_STATUSES.has(status)
    if (was === 'open' && (final || failures >= MAX_FAILURES)) onStreamGone(whyGone(status))
    if (was === 'open') return undefined
    const asked = was
    was = 'awaited'
    if (final) return new Response(null, { status: 405 })
    // The SDK reopens a stream that ended, but not a stream that never opened. Therefore it gets an empty stream first.
    return asked === 'not requested'
      ? new Response('', { headers: { 'content-type': 'text/event-stream' } })
      : undefined
  }

  return async (url, init) => {
    try {
      const response = await fetch(url, init)
      if (!response.ok) return refused(response.status) ?? response
      if (was !== 'not requested') onStreamBack()
      was = 'open'
      failures = 0
      return response
    } catch (error) {
      const instead = init?.signal?.aborted === true ? undefined : refused(undefined)
      if (instead === undefined) throw error
      return instead
    }
  }
}

function whyGone(status: number | undefined): string {
  return status === undefined
    ? 'the server cannot be reached any more'
    : `the server answered HTTP ${status} when asked for its messages again`
}
