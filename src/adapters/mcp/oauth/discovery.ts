/** Who may let us in at a server: what the server and its authorization server say of themselves, fetched with care. */
import {
  checkResourceAllowed,
  discoverOAuthServerInfo,
  OAuthError,
  OAuthErrorCode,
  RegistrationRejectedError,
  resourceUrlFromServerUrl,
  type FetchLike,
  type OAuthServerInfo,
} from '@modelcontextprotocol/client'
import { withTimeout } from '../../../async/with-timeout.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { HttpServer } from '../transport/headers.ts'
import { BlockedAddressError, openNetwork } from '../transport/network.ts'
import { reasonIn } from '../client/request/request.ts'

export interface Web {
  readonly fetch: FetchLike
  close(): Promise<void>
}

/** For one answer; nobody waits for an authorization server for ever, least of all with the lock in hand. */
const PATIENCE_MS = 20_000

/** The network as this server may make us use it. An address that it must not name is an error that cannot be overlooked. */
export function openWeb(server: HttpServer, clock: Clock): Web {
  const network = openNetwork(server)
  let forbidden: BlockedAddressError | undefined

  /** Reads the response here, so that all of it has to come in time. */
  async function whole(url: string | URL, init: RequestInit): Promise<Response> {
    const response = await network.fetch(url, init)
    const body = await response.arrayBuffer()
    const { status, statusText, headers } = response
    return new Response([204, 205, 304].includes(status) ? null : body, { status, statusText, headers })
  }

  return {
    async fetch(url, init) {
      if (forbidden !== undefined) throw forbidden
      const timedOut = (): Error => new Error(`${new URL(url).host} did not answer in time`)
      try {
        return await withTimeout((signal) => whole(url, { ...init, signal: signal as AbortSignal }), {
          clock,
          ms: PATIENCE_MS,
          timedOut,
        })
      } catch (error) {
        if (error instanceof BlockedAddressError) forbidden = error
        throw error
      }
    },
    close: () => network.destroy(),
  }
}

export interface Found extends OAuthServerInfo {
  readonly issuer: string
  /** What the token is to be good for, as the server writes it. */
  readonly resource: string | undefined
}

/** Throws, in words, where nobody says how to log in. */
export async function discover(
  server: HttpServer,
  { fetch }: Web,
  resourceMetadataUrl: URL | undefined,
): Promise<Found> {
  const url = resourceUrlFromServerUrl(server.url)
  const at = resourceMetadataUrl === undefined ? {} : { resourceMetadataUrl }
  const info = await discoverOAuthServerInfo(url, { ...at, fetchFn: fetch })
  const { authorizationServerMetadata: metadata, resourceMetadata } = info
  if (metadata === undefined) throw new Error('it says nowhere how to log in')
  const resource = resourceMetadata?.resource
  if (resource !== undefined && !checkResourceAllowed({ requestedResource: url, configuredResource: resource }))
    throw new Error(`it says that its logins are for ${resource}`)
  return { ...info, issuer: metadata.issuer, resource }
}

const LONGEST = 300
/** Also said by the protocol's helpers, of whatever is no answer of the protocol. */
const IN_TROUBLE: string = OAuthErrorCode.ServerError

/** What an authorization server says in the words of the protocol is passed on; whatever else it sends may hold anything. */
export function wordsFor(error: unknown): string {
  const words = saidBy(error).replace(/\s+/g, ' ').replace(/\.$/, '')
  return words.length <= LONGEST ? words : `${words.slice(0, LONGEST)}…`
}

function saidBy(error: unknown): string {
  if (error instanceof RegistrationRejectedError)
    return `its authorization server does not take us for a client (HTTP ${error.status})`
  if (!(error instanceof OAuthError)) return reasonIn(error)
  if (error.code !== IN_TROUBLE) return `${error.message} (${error.code})`
  const status = /^HTTP \d{3}/.exec(error.message)?.[0] ?? error.code
  return `its authorization server is in trouble (${status})`
}
