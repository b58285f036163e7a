/** Renews a token without a person, where the login left the means to. */
import { OAuthError, OAuthErrorCode, refreshAuthorization, type StoredOAuthTokens } from '@modelcontextprotocol/client'
import type { Clock } from '../../../ports/clock.ts'
import type { HttpServer } from '../transport/headers.ts'
import type { Refusal } from './authorization.ts'
import { discover, openWeb, wordsFor, type Found, type Web } from './discovery.ts'
import { accountOf, withAccount, withoutAccount, type Account, type Store } from './store.ts'

/** With these words an authorization server says that the means are of no more use. */
const OVER: ReadonlySet<string> = new Set([
  OAuthErrorCode.InvalidGrant,
  OAuthErrorCode.InvalidClient,
  OAuthErrorCode.UnauthorizedClient,
])

/** Keeps a new token, or forgets the login that brings none any more. Call it under the store's `alone`. Rejects with what failed for now. */
export async function renew(server: HttpServer, store: Store, { refusal, clock }: Renewal): Promise<void> {
  const web = openWeb(server, clock)
  try {
    const found = await discover(server, web, refusal.resourceMetadataUrl)
    const { issuer } = found
    // Only what this very authorization server gave us is ever shown to it.
    const shown = accountOf(store.read(), issuer)
    const tokens = await tokensFor(shown, found, web)
    if (tokens === 'none to renew') return
    store.write((kept) => {
      // Of a login that came in meanwhile this renewal knows nothing: what that brought stays.
      if (accountOf(kept, issuer).tokens?.refresh_token !== shown.tokens?.refresh_token) return kept
      return tokens === 'over' ? withoutAccount(kept, issuer) : withAccount({ ...kept, issuer }, issuer, { tokens })
    })
  } catch (error) {
    throw new Error(wordsFor(error), { cause: error })
  } finally {
    await web.close()
  }
}

/** What the authorization server gives for the refresh token, which it may take only once. */
async function tokensFor(
  { client, tokens }: Account,
  { authorizationServerUrl, authorizationServerMetadata: metadata, resource, issuer }: Found,
  { fetch }: Web,
): Promise<StoredOAuthTokens | 'none to renew' | 'over'> {
  if (client === undefined || tokens?.refresh_token === undefined) return 'none to renew'
  try {
    const renewed = await refreshAuthorization(authorizationServerUrl, {
      ...(metadata && { metadata }),
      ...(resource !== undefined && { resource: new URL(resource) }),
      clientInformation: client,
      refreshToken: tokens.refresh_token,
      fetchFn: fetch,
    })
    const scope = renewed.scope ?? tokens.scope
    return { ...renewed, ...(scope !== undefined && { scope }), issuer }
  } catch (error) {
    if (error instanceof OAuthError && OVER.has(error.code)) return 'over'
    throw error
  }
}

interface Renewal {
  readonly refusal: Refusal
  readonly clock: Clock
}
