/**
 * Access tokens: how a script shows who it is. A token is 256 random bits and is shown once; the state directory keeps its
 * SHA-256 alone, in one file that only the user can read.
 */
import { fail } from '../errors/parley-error.ts'
import type { Clock } from '../ports/clock.ts'
import { type CredentialDocument, type CredentialPlace, documentIn } from './credential-documents.ts'
import { isUseDue } from './credential-file.ts'
import { freeName } from './free-name.ts'
import { type Role, isRole } from './roles.ts'
import { type Scope, isScope } from './scope.ts'
import { hashOf, isHash, newToken } from './secret.ts'

export interface AccessToken {
  readonly name: string
  readonly role: Role
  /** Absent: every session. */
  readonly scope?: Scope
  /** ISO 8601. */
  readonly created: string
  /** When a client last connected with it, to the minute. ISO 8601; absent: never. */
  readonly lastUsed?: string
}

export interface StoredToken extends AccessToken {
  readonly sha256: string
}

/** The holder of a credential: its role and its scope. */
export interface TokenHolder {
  /** Another secret, or the same one with another role or scope, is another holder. */
  readonly id: string
  readonly kind: 'token' | 'device' | 'share'
  /** Of the token or the device; of a share link its id. */
  readonly name: string
  readonly role: Role
  readonly scope: Scope
  /** Whether the output of tools is kept from it. */
  readonly hidesTools?: boolean
}

interface TokensFile {
  readonly tokens: readonly StoredToken[]
}

const TOKEN_NAME = /^[\p{L}\p{N}][\p{L}\p{N}._-]{0,63}$/u

export class AccessTokens {
  readonly #file: CredentialDocument<TokensFile>
  readonly #now: Clock['now']

  constructor(place: CredentialPlace, clock: Pick<Clock, 'now'>) {
    this.#file = documentIn(place, 'access-tokens', { empty: { tokens: [] }, isContent: isTokensFile })
    this.#now = () => clock.now()
  }

  /** Returns the token. Throws TOKEN_NAME_INVALID, TOKEN_NAME_TAKEN and TOKENS_UNUSABLE. */
  add(name: string, role: Role, scope: Scope = 'all'): string {
    if (!TOKEN_NAME.test(name)) fail('TOKEN_NAME_INVALID', { name: JSON.stringify(name) })
    const token = newToken()
    return this.#file.change(({ tokens }) => {
      if (tokens.some((one) => one.name === name)) fail('TOKEN_NAME_TAKEN', { name })
      const added = { name, role, ...(scope !== 'all' && { scope }), created: this.#time(), sha256: hashOf(token) }
      return { content: { tokens: [...tokens, added] }, result: token }
    })
  }

  /** Returns it. Running servers cut its connections within a second. Throws TOKEN_UNKNOWN and TOKENS_UNUSABLE. */
  remove(name: string): AccessToken {
    return this.#file.change(({ tokens }) => {
      const removed = tokens.find((one) => one.name === name) ?? fail('TOKEN_UNKNOWN', { name: JSON.stringify(name) })
      const { sha256: _secret, ...result } = removed
      return { content: { tokens: tokens.filter((one) => one !== removed) }, result }
    })
  }

  /** In the order in which they were added. Throws TOKENS_UNUSABLE. */
  all(): readonly AccessToken[] {
    return this.stored().map(({ sha256: _secret, ...token }) => token)
  }

  /** With their hashes. Throws TOKENS_UNUSABLE. */
  stored(): readonly StoredToken[] {
    return this.#file.read().tokens
  }

  /** Takes those that it does not have, with another name if theirs is taken. Returns how many. Throws TOKENS_UNUSABLE. */
  adopt(others: readonly StoredToken[]): number {
    return this.#file.change(({ tokens }) => {
      const all = [...tokens]
      for (const other of others)
        if (!all.some(({ sha256 }) => sha256 === other.sha256))
          all.push({ ...other, name: freeName(other.name, { among: all, join: '-' }) })
      return { content: { tokens: all }, result: all.length - tokens.length }
    })
  }

  /** Notes that a client has connected with it. Nothing waits for this: where another process changes the file, it is left out. */
  used(sha256: string): void {
    if (!this.stored().some((one) => one.sha256 === sha256 && isUseDue(one.lastUsed, this.#now()))) return
    const lastUsed = this.#time()
    this.#file.changeIfFree(({ tokens }) => ({
      tokens: tokens.map((one) => (one.sha256 === sha256 ? { ...one, lastUsed } : one)),
    }))
  }

  #time(): string {
    return new Date(this.#now()).toISOString()
  }
}

function isTokensFile(value: unknown): value is TokensFile {
  const tokens = (value as { readonly tokens?: unknown } | null)?.tokens
  return Array.isArray(tokens) && tokens.every(isStored)
}

function isStored(value: unknown): value is StoredToken {
  if (typeof value !== 'object' || value === null) return false
  const { name, role, scope = 'all', created, lastUsed, sha256 } = value as Readonly<Record<string, unknown>>
  return (
    typeof name === 'string' &&
    isRole(role) &&
    isScope(scope) &&
    typeof created === 'string' &&
    (lastUsed === undefined || typeof lastUsed === 'string') &&
    isHash(sha256)
  )
}
