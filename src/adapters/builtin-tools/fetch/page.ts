/** Gets a page of the web: within limits of size and time, and no further than the host that was allowed. */
import { type Agent, fetch as undiciFetch } from 'undici'
import { withTimeout } from '../../../async/with-timeout.ts'
import { ParleyError } from '../../../errors/parley-error.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { Signal } from '../../../ports/values/signal.ts'
import { failTool } from '../toolset/tool-failure.ts'
import { type MayReach, guardedAgent } from './reach.ts'

/** Bytes, unpacked. */
const MAX_PAGE_BYTES = 5 * 1024 * 1024
/** Milliseconds. */
const FETCH_TIMEOUT_MS = 30_000
const MAX_REDIRECTS = 5

const HEADERS = {
  accept: 'text/html,application/xhtml+xml,text/*;q=0.9,application/json;q=0.9,image/*;q=0.5,*/*;q=0.1',
  'user-agent': 'Parley (fetch_url)',
}

export interface FetchOptions {
  readonly mayReach: MayReach
  readonly clock: Clock
  readonly signal: Signal
}

export type FetchedPage =
  | (Body & { readonly kind: 'page'; readonly url: URL; readonly status: number; readonly type: string })
  /** A redirect to another host, which the user has not approved. */
  | { readonly kind: 'elsewhere'; readonly url: URL }

interface Body {
  readonly bytes: Buffer
  /** More was sent than is read. */
  readonly isCut: boolean
}

export async function getPage(url: URL, { mayReach, clock, signal }: FetchOptions): Promise<FetchedPage> {
  const agent = guardedAgent(mayReach)
  const reason = `${url.host} did not answer within ${FETCH_TIMEOUT_MS / 1_000} seconds.`
  const timedOut = (cause: unknown): Error => new ParleyError('TOOL_FAILED', { reason }, cause)
  try {
    return await withTimeout((own) => follow(url, { agent, signal: own as AbortSignal }), {
      clock,
      ms: FETCH_TIMEOUT_MS,
      signals: [signal],
      timedOut,
    })
  } finally {
    // The rest of the response is not needed.
    await agent.destroy()
  }
}

interface Following {
  readonly agent: Agent
  readonly signal: AbortSignal
}

async function follow(start: URL, { agent, signal }: Following): Promise<FetchedPage> {
  let url = start
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
    const response = await undiciFetch(url, { dispatcher: agent, redirect: 'manual', headers: HEADERS, signal })
    const location = response.headers.get('location')
    const { status } = response
    if (status < 300 || status > 399 || location === null) {
      const type = response.headers.get('content-type') ?? ''
      return { kind: 'page', url, status, type, ...(await bodyOf(response.body)) }
    }
    await response.body?.cancel()
    const next = redirected(location, url)
    if (!isSameHost(url, next)) return { kind: 'elsewhere', url: next }
    url = next
  }
  return failTool(`${start.host} redirects again and again.`)
}

/** The target of a redirect may be anything. */
function redirected(location: string, from: URL): URL {
  const url = URL.canParse(location, from) ? new URL(location, from) : undefined
  if (url === undefined || !/^https?:$/u.test(url.protocol) || url.username !== '' || url.password !== '')
    return failTool(
      `${from.host} redirects to an address that is not fetched: it is not http or https, or it contains a user name or password.`,
    )
  return url
}

/** Also with and without `www.`, and from http to https. */
function isSameHost(from: URL, to: URL): boolean {
  const bare = ({ hostname }: URL) => hostname.replace(/^www\./u, '')
  const isWeb = to.protocol === 'https:' || to.protocol === from.protocol
  return isWeb && bare(from) === bare(to) && (from.port === to.port || to.protocol !== from.protocol)
}

async function bodyOf(body: AsyncIterable<Uint8Array> | null): Promise<Body> {
  const pieces: Uint8Array[] = []
  let length = 0
  for await (const piece of body ?? []) {
    pieces.push(piece)
    length += piece.length
    if (length > MAX_PAGE_BYTES) return { bytes: Buffer.concat(pieces, MAX_PAGE_BYTES), isCut: true }
  }
  return { bytes: Buffer.concat(pieces), isCut: false }
}
