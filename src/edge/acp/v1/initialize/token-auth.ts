/** Token authentication: a client gives the server's token once per connection, in `initialize` or with `authenticate`. */
import { createHash, timingSafeEqual } from 'node:crypto'
import { fail } from '../../../../errors/parley-error.ts'
import type { Access } from '../../../method-access.ts'

const METHOD = {
  id: 'parley-token',
  name: 'Access token',
  description:
    'Set PARLEY_CLIENT_TOKEN for the command that starts Parley, or send the token as _meta["parley/token"] of authenticate.',
} as const

export class TokenAuth {
  readonly #token: string | undefined
  readonly #access: Access
  /** The user logs in to an agent in a terminal, so there is nothing left to do for a client that says so. */
  agentLogins: ReadonlySet<string> = new Set()

  /** Without a token there is nothing to authenticate with. */
  constructor(token: string | undefined, access: Access) {
    this.#token = token
    this.#access = access
  }

  /** The `authMethods` of the answer to `initialize`. */
  get methods(): readonly (typeof METHOD)[] {
    return this.#token === undefined ? [] : [METHOD]
  }

  /** A client may send the token with `initialize`. A wrong one is ignored there: `authenticate` says what is wrong. */
  initialized(params: unknown): void {
    if (this.#token !== undefined && isSame(tokenIn(params), this.#token)) this.#access.token = 'valid'
  }

  /** Throws AUTH_METHOD_UNKNOWN and AUTH_FAILED. */
  authenticate(params: unknown): void {
    const { methodId } = (params ?? {}) as { readonly methodId?: unknown }
    if (typeof methodId !== 'string')
      fail('PARAMS_INVALID', { method: 'authenticate', reason: 'methodId must be a text' })
    if (this.agentLogins.has(methodId)) return
    if (this.#token === undefined || methodId !== METHOD.id) return fail('AUTH_METHOD_UNKNOWN', { id: methodId })
    if (!isSame(tokenIn(params), this.#token)) fail('AUTH_FAILED', {})
    this.#access.token = 'valid'
  }

  /** Throws METHOD_UNKNOWN when the server demands no token. */
  logOut(): void {
    if (this.#token === undefined) fail('METHOD_UNKNOWN', { method: 'logout' })
    this.#access.token = 'missing'
  }
}

function tokenIn(params: unknown): unknown {
  const { _meta } = (params ?? {}) as { readonly _meta?: Readonly<Record<string, unknown>> | null }
  return _meta?.['parley/token']
}

/** Compares in constant time, so that the time does not reveal how much of a token is right. */
function isSame(given: unknown, token: string): boolean {
  return typeof given === 'string' && timingSafeEqual(hash(given), hash(token))
}

function hash(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
