/** Discovers the authorization server of an MCP server and fetches its metadata, only from addresses that the server may name. */
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
import type { HttpMcpServer } from '../transport/headers.ts'
import { BlockedAddressError, openNetwork } from '../transport/network.ts'
import { reasonIn } from '../client/request/request.ts'

export interface Web {
  readonly fetch: FetchLike
  close(): Promise<void>
}

/** For one response: a slow authorization server must not hold the lock of the login file forever. */
const RESPONSE_TIMEOUT_MS = 20_000

/** The network as this server may use it. After one blocked address every request fails, because the SDK would ignore the error. */
export function openWeb(server: HttpMcpServer, clock: Clock): Web {
  const network = openNetwork(server)
  let forbidden: BlockedAddressError | undefined

  /** Reads the whole response, so that the time limit covers its body. */
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
          ms: RESPONSE_TIMEOUT_MS,
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

export interface FoundAuthorization extends OAuthServerInfo {
  readonly issuer: string
  /** The resource that the token is for, as the server writes it. */
  readonly resource: string | undefined
}

/** Throws a sentence when the server does not say how to log in. */
export async function discover(
  server: HttpMcpServer,
  { fetch }: Web,
  resourceMetadataUrl: URL | undefined,
): Promise<FoundAuthorization> {
  const url = resourceUrlFromServerUrl(server.url)
  const at = resourceMetadataUrl === undefined ? {} : { resourceMetadataUrl }
  const info = await discoverOAuthServerInfo(url, { ...at, fetchFn: fetch })
  const { authorizationServerMetadata: metadata, resourceMetadata } = info
  if (metadata === undefined) throw new Error('it does not say how to log in')
  const resource = resourceMetadata?.resource
  if (resource !== undefined && !checkResourceAllowed({ requestedResource: url, configuredResource: resource }))
    throw new Error(`it says that its logins are for ${resource}`)
  return { ...info, issuer: metadata.issuer, resource }
}

const MAX_REASON_CHARS = 300
/** The SDK also uses this code for responses that are not OAuth. */
const SERVER_ERROR: string = OAuthErrorCode.ServerError

/** The reason of a failed login. OAuth errors are passed on; any other response of the server is not, because it may contain anything. */
export function loginFailure(error: unknown): string {
  const words = reasonFrom(error).replace(/\s+/g, ' ').replace(/\.$/, '')
  return words.length <= MAX_REASON_CHARS ? words : `${words.slice(0, MAX_REASON_CHARS)}…`
}

function reasonFrom(error: unknown): string {
  if (error instanceof RegistrationRejectedError)
    return `its authorization server refused to register Parley as a client (HTTP ${error.status})`
  if (!(error instanceof OAuthError)) return reasonIn(error)
  if (error.code !== SERVER_ERROR) return `${error.message} (${error.code})`
  const status = /^HTTP \d{3}/.exec(error.message)?.[0] ?? error.code
  return `its authorization server failed (${status})`
}
