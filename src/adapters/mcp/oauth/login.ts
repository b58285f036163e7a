/** One login: a person says yes at an authorization server, and what that brings is kept. */
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
import type { Signal } from '../../../ports/signal.ts'
import type { HttpServer } from '../transport/headers.ts'
import type { LoginSettings } from './authorization.ts'
import { discover, openWeb, wordsFor, type Found, type Web } from './discovery.ts'
import { openCallbackServer, type CallbackServer } from './oauth-callback-server.ts'
import { accountOf, withAccount, type Kept, type Store } from './store.ts'

interface LoginOptions {
  readonly server: HttpServer
  readonly settings: LoginSettings
  readonly store: Store
  readonly clock: Clock
  /** Ends it, whoever waits. */
  readonly signal: AbortSignal
}

export interface Begun {
  readonly url: string
  readonly done: Promise<void>
}

/** For a person who was sent to a page and has other things to do. */
const PATIENCE_MS = 10 * 60 * 1000

/** Rejects with a reason in words. What it opened it closes when `done` has settled. */
export async function beginLogin(options: LoginOptions): Promise<Begun> {
  const { server, settings, store, clock } = options
  const web = openWeb(server, clock)
  const state = clock.id()
  let landing: CallbackServer | undefined
  try {
    const challenge = await challengeOf(server, web)
    const found = await discover(server, web, challenge.resourceMetadataUrl)
    refuseWeak(found)
    const wanted = settings.redirectUrl ?? accountOf(store.read(), found.issuer).redirect
    landing = await openCallbackServer({ wanted, exactly: settings.redirectUrl !== undefined, state })
    const person = personAt({ ...options, found, landing, state })
    const scope = computeScopeUnion(challenge.scope, settings.scope, store.read().wanted, person.granted)
    const asked = { serverUrl: server.url, fetchFn: web.fetch, forceReauthorization: true, ...(scope && { scope }) }
    await auth(person.provider, asked)
    const url = fitForBrowser(person.page(), server)
    return { url, done: finish({ ...options, web, landing, provider: person.provider }) }
  } catch (error) {
    landing?.close()
    await web.close()
    throw new Error(wordsFor(error), { cause: error })
  }
}

/** What the server says to whoever brings nothing; one that says nothing may still name its authorization server. */
async function challengeOf(
  server: HttpServer,
  { fetch }: Web,
): Promise<ReturnType<typeof extractWWWAuthenticateParams>> {
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  const isPost = server.type === 'http'
  const body = JSON.stringify({ jsonrpc: '2.0', id: 'login', method: 'ping' })
  const init = isPost ? { method: 'POST', headers, body } : { method: 'HEAD', headers }
  const response = await fetch(server.url, init)
  return response.status === 401 || response.status === 403 ? extractWWWAuthenticateParams(response) : {}
}

/** A code that anyone may use who sees it is no way in. */
function refuseWeak({ authorizationServerMetadata: metadata }: Found): void {
  if (metadata?.code_challenge_methods_supported?.includes('S256') === true) return
  throw new Error('its authorization server does not say that it protects logins with PKCE (S256)')
}

interface PersonOptions extends LoginOptions {
  readonly found: Found
  readonly landing: CallbackServer
  readonly state: string
}

interface Person {
  readonly provider: OAuthClientProvider
  readonly granted: string | undefined
  readonly page: () => URL
}

/** What the protocol's own helpers ask of us while somebody logs in. */
function personAt({ settings, store, found, landing, state }: PersonOptions): Person {
  const { issuer } = found
  const before = accountOf(store.read(), issuer)
  let client = clientBefore(settings, before, landing.redirect)
  let verifier = ''
  let page: URL | undefined
  let discovery: OAuthDiscoveryState = found
  const isPublic = found.authorizationServerMetadata?.token_endpoint_auth_methods_supported?.includes('none') === true
  const provider: OAuthClientProvider = {
    redirectUrl: landing.redirect,
    ...(settings.clientMetadataUrl !== undefined && { clientMetadataUrl: settings.clientMetadataUrl }),
    clientMetadata: {
      client_name: 'Parley',
      redirect_uris: [landing.redirect],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      ...(isPublic && { token_endpoint_auth_method: 'none' }),
    },
    state: () => state,
    clientInformation: () => client && { ...client, issuer },
    saveClientInformation: (given) => void (client = given),
    tokens: () => undefined,
    async saveTokens(tokens) {
      const account = { tokens, redirect: landing.redirect, ...(client && { client }) }
      await store.alone(async () =>
        store.write((kept) => withAccount(withoutWish({ ...kept, issuer }), issuer, account)),
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
        throw new Error('its authorization server sends nobody anywhere')
      })(),
  }
}

/** What was wanted was asked for; whoever gave less will not give more. */
function withoutWish({ server, issuer, accounts }: Kept): Kept {
  return { server, accounts, ...(issuer !== undefined && { issuer }) }
}

/** A client that was registered with another address to come back to is refused there. */
function clientBefore(
  { clientId, clientSecret }: LoginSettings,
  { client, redirect }: ReturnType<typeof accountOf>,
  landing: string,
): StoredOAuthClientInformation | undefined {
  if (clientId !== undefined)
    return { client_id: clientId, ...(clientSecret !== undefined && { client_secret: clientSecret }) }
  return redirect === landing ? client : undefined
}

/** A page of the web, and of this machine only for a server of this machine; anything else could do things there. */
function fitForBrowser(page: URL, server: HttpServer): string {
  const isLocal = ['127.0.0.1', 'localhost', '[::1]'].includes(page.hostname)
  const isHome = isLocal && ['127.0.0.1', 'localhost', '[::1]'].includes(new URL(server.url).hostname)
  if (page.protocol === 'https:' || (page.protocol === 'http:' && isHome)) return page.href
  throw new Error(`its login page is not to be opened (${page.protocol}//${page.host})`)
}

interface Finishing extends LoginOptions {
  readonly web: Web
  readonly landing: CallbackServer
  readonly provider: OAuthClientProvider
}

async function finish({ server, web, landing, provider, clock, signal }: Finishing): Promise<void> {
  try {
    const { params, answer } = await withinPatience(landing.came, clock, signal)
    try {
      // It checks who answers before it reads what the answer says.
      const transport = new StreamableHTTPClientTransport(new URL(server.url), {
        authProvider: provider,
        fetch: web.fetch,
      })
      await transport.finishAuth(params)
      answer('You are logged in. You can close this page and go back to Parley.')
    } catch (error) {
      answer('That did not work. Parley says why.')
      throw error
    }
  } catch (error) {
    throw new Error(wordsFor(error), { cause: error })
  } finally {
    landing.close()
    await web.close()
  }
}

function withinPatience<Value>(coming: Promise<Value>, clock: Clock, signal: AbortSignal): Promise<Value> {
  const timedOut = (): Error => new Error('nobody finished it within ten minutes')
  const untilAborted = (own: Signal): Promise<Value> => unlessAborted(coming, own, () => new Error('it was cancelled'))
  return withTimeout(untilAborted, { clock, ms: PATIENCE_MS, signals: [signal], timedOut })
}
