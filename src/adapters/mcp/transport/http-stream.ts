/** Keeps the streams of Streamable HTTP alive: that of the server's own messages for ever, that of an answer while it can come. */
import type { FetchLike, StreamableHTTPClientTransportOptions } from '@modelcontextprotocol/client'
import { backoffMs } from '../../../async/backoff.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { Resumptions } from './response-sanitizer.ts'

export interface StreamEvents {
  /** The stream of the server's own messages came back after it was lost: some may have been missed. */
  readonly onStreamBack: () => void
  /** The stream of the server's own messages cannot come back. */
  readonly onStreamGone: (reason: string) => void
}

interface Keeping {
  readonly events: StreamEvents
  readonly resumptions: Resumptions
}

const BACKOFF = { firstMs: 300, longestMs: 30_000, factor: 1.5 }
/** A server that wants to be asked again sooner than this would be asked in a loop. */
const SHORTEST_PAUSE_MS = 50
/** So often the server may be out of reach, or busy with a stream of ours that it takes for alive. */
const MOST_FAILURES = 4
/** Whoever refuses like this will not change its mind. */
const FINAL: ReadonlySet<number> = new Set([400, 401, 403, 404, 405, 410])

/** The transport asks again as long as the connection lives; we decide when that ends. */
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
      // A server's own wish counts for the first attempt; after a failure it is asked less often, whatever it wished.
      const grown = attempt === 0 ? SHORTEST_PAUSE_MS : backoffMs(attempt + 1, BACKOFF)
      const timer = clock.setTimer(Math.min(Math.max(wanted, grown), BACKOFF.longestMs), reconnect)
      return () => timer.cancel()
    },
  }
}

/** Wraps the GETs of one session. */
export function keepingStream(fetch: FetchLike, { events, resumptions }: Keeping): FetchLike {
  const own = ownStream(fetch, events)
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

/** The rest of an answer: a server that cannot give it, or is out of reach for long, has lost it. */
async function resumed(fetched: Promise<Response>, count: number): Promise<Response> {
  const response = await fetched.catch((error: unknown) => {
    if (count < MOST_FAILURES) throw error
    return undefined
  })
  if (response?.ok === true) return response
  const isFinal = response === undefined || response.status < 500 || count >= MOST_FAILURES
  // What the transport takes as the end of the matter.
  return isFinal ? new Response(null, { status: 405 }) : response
}

/** The server's own stream, of which the transport itself would only give up in silence. */
function ownStream(fetch: FetchLike, { onStreamBack, onStreamGone }: StreamEvents): FetchLike {
  let was: 'never asked for' | 'waited for' | 'open' = 'never asked for'
  let failures = 0

  function refused(status: number | undefined): Response | undefined {
    failures += 1
    const final = status !== undefined && FINAL.has(status)
    if (was === 'open' && (final || failures >= MOST_FAILURES)) onStreamGone(whyGone(status))
    if (was === 'open') return undefined
    const asked = was
    was = 'waited for'
    if (final) return new Response(null, { status: 405 })
    // The transport asks again for a stream that ended, and never for one that it could not open at first.
    return asked === 'never asked for'
      ? new Response('', { headers: { 'content-type': 'text/event-stream' } })
      : undefined
  }

  return async (url, init) => {
    try {
      const response = await fetch(url, init)
      if (!response.ok) return refused(response.status) ?? response
      if (was !== 'never asked for') onStreamBack()
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
