/** A person without a browser who says yes wherever an authorization server asks, and keeps all tokens in mind. */
import { randomUUID } from 'node:crypto'
import type { OAuthClientProvider, StoredOAuthClientInformation, StoredOAuthTokens } from '@modelcontextprotocol/client'
import type { Authorization } from '../../../src/adapters/tools/mcp/authorization.ts'

export interface Credentials {
  readonly client_id?: string
  readonly client_secret?: string
}

const REDIRECT = 'http://localhost:3000/callback'

export function willing({ client_id, client_secret }: Credentials): Authorization {
  const registered = new Map<string | undefined, StoredOAuthClientInformation>()
  const tokens = new Map<string | undefined, StoredOAuthTokens>()
  let verifier = ''
  let brought: URLSearchParams | undefined

  const provider: OAuthClientProvider = {
    redirectUrl: REDIRECT,
    clientMetadataUrl: 'https://conformance-test.local/client-metadata.json',
    clientMetadata: { client_name: 'parley-conformance', redirect_uris: [REDIRECT] },
    state: () => randomUUID(),
    clientInformation: (ctx) =>
      client_id === undefined
        ? registered.get(ctx?.issuer)
        : { client_id, ...(client_secret !== undefined && { client_secret }) },
    saveClientInformation: (information, ctx) => void registered.set(ctx?.issuer, information),
    tokens: (ctx) => (ctx === undefined ? [...tokens.values()].at(-1) : tokens.get(ctx.issuer)),
    saveTokens: (given, ctx) => void tokens.set(ctx?.issuer, given),
    saveCodeVerifier: (given) => void (verifier = given),
    codeVerifier: () => verifier,
    async redirectToAuthorization(page) {
      const response = await fetch(page, { redirect: 'manual' })
      brought = new URL(response.headers.get('location') ?? page.href).searchParams
      const state = page.searchParams.get('state')
      if (state !== null && brought.get('state') !== state) throw new Error('the state is not ours')
    },
    invalidateCredentials(scope) {
      if (scope === 'all' || scope === 'client') registered.clear()
      if (scope === 'all' || scope === 'tokens') tokens.clear()
    },
  }
  return {
    provider,
    async callback() {
      if (brought === undefined) throw new Error('nobody came back')
      const params = brought
      brought = undefined
      return params
    },
  }
}
