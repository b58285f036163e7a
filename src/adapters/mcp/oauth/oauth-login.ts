/** One OAuth login: the user approves at the authorization server, and the tokens are stored. */
import {
  auth,
  computeScopeUnion,
  extractWWWAuthenticateParams,
  StreamableHTTPClientTransport,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  type StoredOAuthClientInformation,
} from '@modelcontextprotocol/client'
import { unlessAborted } from '../../../async/abort.ts'
import { withTimeout } from '../../../async/with-timeout.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { Signal } from '../../../ports/values/signal.ts'
import type { HttpMcpServer } from '../transport/headers.ts'
import type { LoginSettings } from '../../../ports/values/mcp-server-settings.ts'
import { discover, openWeb, loginFailure, type FoundAuthorization, type Web } from './discovery.ts'
import { openCallbackServer, type CallbackServer } from './oauth-callback-server.ts'
import { accountOf, withAccount, type StoredLogins, type LoginStore } from './store.ts'

interface LoginOptions {
  readonly server: HttpMcpServer
  readonly settings: LoginSettings
  readonly store: LoginStore
  readonly clock: Clock
  /** Cancels the login. */
  readonly signal: AbortSignal
}

export interface RunningLogin {
  readonly url: string
  readonly done: Promise<void>
}

/** For the user to finish the login in the browser. */
const LOGIN_TIMEOUT_MS = 10 * 60 * 1000

/** Rejects with a reason in words. Everything it opened is closed when `done` has settled. */
export async function beginLogin(options: LoginOptions): Promise<RunningLogin> {
  const { server, settings, store, clock } = options
  const web = openWeb(server, clock)
  const state = clock.id()
  let callback: CallbackServer | undefined
  try {
    const challenge = await challengeOf(server, web)
    const found = await discover(server, web, challenge.resourceMetadataUrl)
    requirePkce(found)
    const wanted = settings.redirectUrl ?? accountOf(store.read(), found.issuer).redirect
    callback = await openCallbackServer({ wanted, exactly: settings.redirectUrl !== undefined, state })
    const login = loginProvider({ ...options, found, callback, state })
    const scope = computeScopeUnion(challenge.scope, settings.scope, store.read().wanted, login.granted)
    const asked = { serverUrl: server.url, fetchFn: web.fetch, forceReauthorization: true, ...(scope && { scope }) }
    await auth(login.provider, asked)
    const url = requireWebPage(login.page(), server)
    return { url, done: finish({ ...options, web, callback, provider: login.provider }) }
  } catch (error) {
    callback?.close()
    await web.close()
    throw new Error(loginFailure(error), { cause: error })
  }
}

/** The challenge of the server to a request without a token. Without a challenge its metadata may still name an authorization server. */
async function challengeOf(
  server: HttpMcpServer,
  { fetch }: Web,
): Promise<ReturnType<typeof extractWWWAuthenticateParams>> {
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  const isPost = server.type === 'http'
  const body = JSON.stringify({ jsonrpc: '2.0', id: 'login', method: 'ping' })
  const init = isPost ? { method: 'POST', headers, body } : { method: 'HEAD', headers }
  const response = await fetch(server.url, init)
  return response.status === 401 || response.status === 403 ? extractWWWAuthenticateParams(response) : {}
}

/** Without PKCE, any program that sees the code could use it. */
function requirePkce({ authorizationServerMetadata: metadata }: FoundAuthorization): void {
  if (metadata?.code_challenge_methods_supported?.includes('S256') === true) return
  throw new Error('its authorization server does not say that it protects logins with PKCE (S256)')
}

interface ProviderOptions extends LoginOptions {
  readonly found: FoundAuthorization
  readonly callback: CallbackServer
  readonly state: string
}

interface LoginProvider {
  readonly provider: OAuthClientProvider
  readonly granted: string | undefined
  readonly page: () => URL
}

/** The callbacks of the SDK's OAuth helpers. */
function loginProvider({ settings, store, found, callback, state }: ProviderOptions): LoginProvider {
  const { issuer } = found
  const before = accountOf(store.read(), issuer)
  let client = knownClient(settings, before, callback.redirect)
  let verifier = ''
  let page: URL | undefined
  let discovery: OAuthDiscoveryState = found
  const isPublic = found.authorizationServerMetadata?.token_endpoint_auth_methods_supported?.includes('none') === true
  const provider: OAuthClientProvider = {
    redirectUrl: callback.redirect,
    ...(settings.clientMetadataUrl !== undefined && { clientMetadataUrl: settings.clientMetadataUrl }),
    clientMetadata: {
      client_name: 'Parley',
      redirect_uris: [callback.redirect],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      ...(isPublic && { token_endpoint_auth_method: 'none' }),
    },
    state: () => state,
    clientInformation: () => client && { ...client, issuer },
    saveClientInformation: (given) => void (client = given),
    tokens: () => undefined,
    async saveTokens(tokens) {
      const account = { tokens, redirect: callback.redirect, ...(client && { client }) }
      await store.withLock(async () =>
        store.write((kept) => withAccount(withoutWanted({ ...kept, issuer }), issuer, account)),
      )
    },
    redirectToAuthorization: (url) => void (page = url),
    saveCodeVerifier: (given) => void (verifier = given),
    codeVerifier: () => verifier,
    discoveryState: () => discovery,
    saveDiscoveryState: (given) => void (discovery = given),
  }
  return {
    provider,
    granted: before.tokens?.scope,
    page: () =>
      page ??
      (() => {
        throw new Error('its authorization server names no login page')
      })(),
  }
}

/** The wanted scope was requested; an authorization server that granted less will not grant more. */
function withoutWanted({ server, issuer, accounts }: StoredLogins): StoredLogins {
  return { server, accounts, ...(issuer !== undefined && { issuer }) }
}

/** A registered client is only valid with the redirect address that it was registered with. */
function knownClient(
  { clientId, clientSecret }: LoginSettings,
  { client, redirect }: ReturnType<typeof accountOf>,
  callback: string,
): StoredOAuthClientInformation | undefined {
  if (clientId !== undefined)
    return { client_id: clientId, ...(clientSecret !== undefined && { client_secret: clientSecret }) }
  return redirect === callback ? client : undefined
}

/** Only web pages, and pages of this machine only for a server of this machine: another kind of URL could run something. */
function requireWebPage(page: URL, server: HttpMcpServer): string {
  const isLocal = ['127.0.0.1', 'localhost', '[::1]'].includes(page.hostname)
  const isHome = isLocal && ['127.0.0.1', 'localhost', '[::1]'].includes(new URL(server.url).hostname)
  if (page.protocol === 'https:' || (page.protocol === 'http:' && isHome)) return page.href
  throw new Error(`its login page must not be opened (${page.protocol}//${page.host})`)
}

interface Finishing extends LoginOptions {
  readonly web: Web
  readonly callback: CallbackServer
  readonly provider: OAuthClientProvider
}

async function finish({ server, web, callback, provider, clock, signal }: Finishing): Promise<void> {
  try {
    const { params, answer } = await withLoginTimeout(callback.came, clock, signal)
    try {
      // The transport checks the issuer before it uses the code.
      const transport = new StreamableHTTPClientTransport(new URL(server.url), {
        authProvider: provider,
        fetch: web.fetch,
      })
      await transport.finishAuth(params)
      answer('You are logged in. You can close this page and go back to Parley.')
    } catch (error) {
      answer('The login failed. Parley shows the reason.')
      throw error
    }
  } catch (error) {
    throw new Error(loginFailure(error), { cause: error })
  } finally {
    callback.close()
    await web.close()
  }
}

function withLoginTimeout<Value>(coming: Promise<Value>, clock: Clock, signal: AbortSignal): Promise<Value> {
  const timedOut = (): Error => new Error('it was not finished within ten minutes')
  const untilAborted = (own: Signal): Promise<Value> => unlessAborted(coming, own, () => new Error('it was cancelled'))
  return withTimeout(untilAborted, { clock, ms: LOGIN_TIMEOUT_MS, signals: [signal], timedOut })
}
