/** Sends the token of a login with every request to a server, renews it, and reports when a login is required. */
import { extractWWWAuthenticateParams, UnauthorizedError, type FetchLike } from '@modelcontextprotocol/client'
import type { CallOptions } from '../host/mcp-types.ts'
import type { Authorization } from '../oauth/authorization.ts'
import { reasonOf } from '../../../errors/parley-error.ts'

/** The server rejected a request unprocessed: the user has to log in, or log in with more scopes. */
export class LoginNeeded extends UnauthorizedError {
  /** Whether no request of this connection can succeed without the login. */
  readonly isFinal: boolean

  constructor(reason: string, isFinal: boolean) {
    super(reason)
    this.isFinal = isFinal
  }
}

/** The server rejected a request unprocessed, and the token could not be renewed for now. */
export class RenewalFailed extends Error {}

/** The SDK wraps errors that it does not know. */
export function loginNeededBy(error: unknown): LoginNeeded | undefined {
  if (error instanceof LoginNeeded || !(error instanceof Error)) return error instanceof LoginNeeded ? error : undefined
  return loginNeededBy(error.cause)
}

/** Wraps all requests to one server. Requests to other hosts go without the token. */
export function authorized(fetch: FetchLike, home: URL, { authorization, onLocked }: AuthorizationOptions): FetchLike {
  return async (given, init) => {
    const url = new URL(given)
    if (url.origin !== home.origin) return await fetch(url, init)
    try {
      return await fetchAuthorized({ fetch, authorization }, url, init)
    } catch (error) {
      if (error instanceof LoginNeeded) onLocked(error)
      throw error
    }
  }
}

interface AuthorizationOptions {
  readonly authorization: Authorization
  readonly onLocked: (login: LoginNeeded) => void
}

async function fetchAuthorized(
  { fetch, authorization }: { readonly fetch: FetchLike; readonly authorization: Authorization },
  url: URL,
  init: RequestInit | undefined,
): Promise<Response> {
  const token = authorization.token()
  const first = await fetch(url, withToken(token, init))
  if (first.status !== 401) return await requireScope(first, authorization)
  const { resourceMetadataUrl } = await challengeOf(first)
  const isNew = await authorization.renew({ token, resourceMetadataUrl }).catch((error: unknown) => {
    throw new RenewalFailed(`the login could not be renewed (${reasonOf(error).replace(/\.$/, '')})`)
  })
  if (!isNew) throw new LoginNeeded('it requires a login', true)
  const second = await fetch(url, withToken(authorization.token(), init))
  if (second.status !== 401) return await requireScope(second, authorization)
  await second.body?.cancel()
  throw new LoginNeeded('it does not accept the current login', true)
}

function withToken(token: string | undefined, init: RequestInit | undefined): RequestInit {
  const headers = new Headers(init?.headers)
  if (token !== undefined) headers.set('authorization', `Bearer ${token}`)
  return { ...init, headers }
}

async function requireScope(response: Response, authorization: Authorization): Promise<Response> {
  if (response.status !== 403) return response
  const { error, scope } = extractWWWAuthenticateParams(response)
  if (error !== 'insufficient_scope') return response
  await response.body?.cancel()
  if (scope !== undefined) await authorization.want(scope)
  throw new LoginNeeded('it requires a login with more rights', false)
}

async function challengeOf(response: Response): Promise<ReturnType<typeof extractWWWAuthenticateParams>> {
  await response.body?.cancel()
  return extractWWWAuthenticateParams(response)
}

interface Asking {
  readonly label: string
  readonly authorization: Authorization | undefined
}

/** Whether the user logged in. Silence and errors never count as an approval. */
export async function askToLogIn(
  { label, authorization }: Asking,
  { onElicit, signal }: CallOptions,
): Promise<boolean> {
  if (authorization === undefined || onElicit === undefined) return false
  const login = await authorization.login(signal)
  try {
    const message = `Log in, so that ${label} can be used. The page that opens is not Parley's.`
    const answer = await onElicit({ mode: 'url', server: label, message, url: login.url }).catch(() => undefined)
    if (answer?.action !== 'accept') {
      login.done.catch(() => undefined)
      return false
    }
    await login.done
    return true
  } finally {
    login.leave()
  }
}
