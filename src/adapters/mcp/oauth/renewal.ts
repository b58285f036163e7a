/** Renews an expired token with the refresh token, without the user. */
import { OAuthError, OAuthErrorCode, refreshAuthorization, type StoredOAuthTokens } from '@modelcontextprotocol/client'
import type { Clock } from '../../../ports/clock.ts'
import type { HttpMcpServer } from '../transport/headers.ts'
import type { AuthorizationRefusal } from './authorization.ts'
import { discover, openWeb, loginFailure, type FoundAuthorization, type Web } from './discovery.ts'
import { accountOf, withAccount, withoutAccount, type Account, type LoginStore } from './store.ts'

/** With these codes an authorization server rejects the refresh token for good. */
const FINAL_ERRORS: ReadonlySet<string> = new Set([
  OAuthErrorCode.InvalidGrant,
  OAuthErrorCode.InvalidClient,
  OAuthErrorCode.UnauthorizedClient,
])

/** Stores a new token, or deletes a login that can no longer be renewed. Call it under the store's lock. Rejects when it failed for now. */
export async function renew(server: HttpMcpServer, store: LoginStore, { refusal, clock }: Renewal): Promise<void> {
  const web = openWeb(server, clock)
  try {
    const found = await discover(server, web, refusal.resourceMetadataUrl)
    const { issuer } = found
    // An authorization server only ever sees what it issued itself.
    const shown = accountOf(store.read(), issuer)
    const tokens = await tokensFor(shown, found, web)
    if (tokens === 'none to renew') return
    store.write((kept) => {
      // A login in the meantime brought newer tokens: they stay.
      if (accountOf(kept, issuer).tokens?.refresh_token !== shown.tokens?.refresh_token) return kept
      return tokens === 'over' ? withoutAccount(kept, issuer) : withAccount({ ...kept, issuer }, issuer, { tokens })
    })
  } catch (error) {
    throw new Error(loginFailure(error), { cause: error })
  } finally {
    await web.close()
  }
}

/** Exchanges the refresh token, which may be valid only once. */
async function tokensFor(
  { client, tokens }: Account,
  { authorizationServerUrl, authorizationServerMetadata: metadata, resource, issuer }: FoundAuthorization,
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
    if (error instanceof OAuthError && FINAL_ERRORS.has(error.code)) return 'over'
    throw error
  }
}

interface Renewal {
  readonly refusal: AuthorizationRefusal
  readonly clock: Clock
}
