/** The door of a server that demands a token: behind it nobody hears of any session who has not given it on this connection. */
import { createHash, timingSafeEqual } from 'node:crypto'
import { fail } from '../../../../errors/parley-error.ts'

const METHOD = {
  id: 'parley-token',
  name: 'Access token',
  description:
    'Set PARLEY_TOKEN for the command that starts Parley, or send the token as _meta["parley/token"] of authenticate.',
} as const

export class TokenAuth {
  readonly #token: string | undefined
  #isOpen: boolean

  /** Without a token it is open, and there is nothing to authenticate with. */
  constructor(token: string | undefined) {
    this.#token = token
    this.#isOpen = token === undefined
  }

  /** As `initialize` names them. */
  get methods(): readonly (typeof METHOD)[] {
    return this.#token === undefined ? [] : [METHOD]
  }

  /** Throws AUTH_REQUIRED. */
  require(method: string): void {
    if (!this.#isOpen) fail('AUTH_REQUIRED', { method })
  }

  /** A client may bring the token with its first words; one that is wrong is as good as none. */
  introduced(params: unknown): void {
    if (this.#token !== undefined && isSame(tokenIn(params), this.#token)) this.#isOpen = true
  }

  /** Throws AUTH_METHOD_UNKNOWN and AUTH_FAILED. */
  authenticate(params: unknown): void {
    const { methodId } = (params ?? {}) as { readonly methodId?: unknown }
    if (typeof methodId !== 'string')
      fail('PARAMS_INVALID', { method: 'authenticate', reason: 'methodId must be a text' })
    if (this.#token === undefined || methodId !== METHOD.id) return fail('AUTH_METHOD_UNKNOWN', { id: methodId })
    if (!isSame(tokenIn(params), this.#token)) fail('AUTH_FAILED', {})
    this.#isOpen = true
  }

  /** Throws METHOD_UNKNOWN where there is nothing to log out of. */
  logOut(): void {
    if (this.#token === undefined) fail('METHOD_UNKNOWN', { method: 'logout' })
    this.#isOpen = false
  }
}

function tokenIn(params: unknown): unknown {
  const { _meta } = (params ?? {}) as { readonly _meta?: Readonly<Record<string, unknown>> | null }
  return _meta?.['parley/token']
}

/** Takes as long for a token that is nearly right as for one that is not. */
function isSame(given: unknown, token: string): boolean {
  return typeof given === 'string' && timingSafeEqual(hash(given), hash(token))
}

function hash(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
