/** Renews a token without a person, where the login left the means to. */
import { OAuthError, OAuthErrorCode, refreshAuthorization } from '@modelcontextprotocol/client'
import type { Clock } from '../../../ports/clock.ts'
import type { HttpServer } from '../mcp/headers.ts'
import type { Refusal } from './authorization.ts'
import { discover, openWeb, wordsFor } from './discovery.ts'
import { accountOf, withAccount, type Store } from './store.ts'

/** With these words an authorization server says that the means are of no more use. */
const OVER: ReadonlySet<string> = new Set([
  OAuthErrorCode.InvalidGrant,
  OAuthErrorCode.InvalidClient,
  OAuthErrorCode.UnauthorizedClient,
])

/** Whether there is a new token. Call it under the store's `alone`. Rejects with what failed for now. */
export async function renew(server: HttpServer, store: Store, { refusal, clock }: Renewal): Promise<boolean> {
  const web = openWeb(server, clock)
  try {
    const found = await discover(server, web, refusal.resourceMetadataUrl)
    // Only what this very authorization server gave us is ever shown to it.
    const { client, tokens } = accountOf(store.read(), found.issuer)
    if (client === undefined || tokens?.refresh_token === undefined) return false
    const renewed = await refreshAuthorization(found.authorizationServerUrl, {
      ...(found.authorizationServerMetadata && { metadata: found.authorizationServerMetadata }),
      ...(found.resource !== undefined && { resource: new URL(found.resource) }),
      clientInformation: client,
      refreshToken: tokens.refresh_token,
      fetchFn: web.fetch,
    })
    const scope = renewed.scope ?? tokens.scope
    const next = { ...renewed, ...(scope !== undefined && { scope }), issuer: found.issuer }
    store.write((kept) => withAccount({ ...kept, issuer: found.issuer }, found.issuer, { tokens: next }))
    return true
  } catch (error) {
    if (!(error instanceof OAuthError) || !OVER.has(error.code)) throw new Error(wordsFor(error), { cause: error })
    store.write(({ issuer, accounts, ...kept }) => ({
      ...kept,
      accounts: Object.fromEntries(Object.entries(accounts).filter(([name]) => name !== issuer)),
    }))
    return false
  } finally {
    await web.close()
  }
}

interface Renewal {
  readonly refusal: Refusal
  readonly clock: Clock
}
