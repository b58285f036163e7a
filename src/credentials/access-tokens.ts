/**
 * Access tokens: how a remote client shows who it is. A token is 256 random bits and is shown once; the state directory
 * keeps its SHA-256 alone, in one file that only the user can read.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { join } from 'node:path'
import { type ErrorDetails } from '../errors/catalogue.ts'
import { fail, isParleyError, reasonOf } from '../errors/parley-error.ts'
import type { Clock } from '../ports/clock.ts'
import { replaceFile } from '../state-files/atomic-file.ts'
import { readTextSync } from '../state-files/bounded-read.ts'
import { lockedNow, tryLock } from '../state-files/file-lock.ts'
import { makeDirectory } from '../state-files/make-directory.ts'
import { type Role, isRole } from './roles.ts'

export interface AccessToken {
  readonly name: string
  readonly role: Role
  /** ISO 8601. */
  readonly created: string
  /** When a client last connected with it, to the minute. ISO 8601; absent: never. */
  readonly lastUsed?: string
}

interface StoredToken extends AccessToken {
  /** Of the token, in hexadecimal digits. Tokens are random and long, so a plain hash gives nothing away. */
  readonly sha256: string
}

const NAME = /^[\p{L}\p{N}][\p{L}\p{N}._-]{0,63}$/u
const TOKEN_BYTES = 32
/** Makes a leaked token recognisable to those who look for secrets. */
const PREFIX = 'parley_'
/** Whoever connects again and again writes no file again and again. */
const USE_STEP_MS = 60_000

export class AccessTokens {
  readonly #path: string
  readonly #now: Clock['now']

  constructor(home: string, clock: Pick<Clock, 'now'>) {
    this.#path = join(home, 'access-tokens.json')
    this.#now = () => clock.now()
  }

  /** Returns the token. Throws TOKEN_NAME_INVALID, TOKEN_NAME_TAKEN and TOKENS_UNUSABLE. */
  add(name: string, role: Role): string {
    if (!NAME.test(name)) fail('TOKEN_NAME_INVALID', { name: JSON.stringify(name) })
    const token = `${PREFIX}${randomBytes(TOKEN_BYTES).toString('base64url')}`
    this.#change((tokens) => {
      if (tokens.some((one) => one.name === name)) fail('TOKEN_NAME_TAKEN', { name })
      return [...tokens, { name, role, created: this.#time(), sha256: hashOf(token).toString('hex') }]
    })
    return token
  }

  /** Running servers cut the connections of this token within a second. Throws TOKEN_UNKNOWN and TOKENS_UNUSABLE. */
  remove(name: string): void {
    this.#change((tokens) => {
      const others = tokens.filter((one) => one.name !== name)
      return others.length < tokens.length ? others : fail('TOKEN_UNKNOWN', { name: JSON.stringify(name) })
    })
  }

  /** In the order in which they were added. Throws TOKENS_UNUSABLE. */
  all(): readonly AccessToken[] {
    return this.#read().map(({ sha256: _secret, ...token }) => token)
  }

  /** Throws TOKENS_UNUSABLE. */
  ring(): TokenRing {
    return new TokenRing(this.#read())
  }

  /** Notes that a client has connected with it. Nothing waits for this: where another process changes the file, it is left out. */
  used({ id }: TokenHolder): void {
    const isDue = ({ lastUsed }: AccessToken): boolean =>
      lastUsed === undefined || Math.abs(this.#now() - Date.parse(lastUsed)) >= USE_STEP_MS
    if (!this.#read().some((one) => idOf(one) === id && isDue(one))) return
    const lock = tryLock(this.#lock)
    if (lock === undefined) return
    try {
      this.#write(this.#read().map((one) => (idOf(one) === id ? usedAt(one, this.#time()) : one)))
    } finally {
      lock.release()
    }
  }

  get #lock(): string {
    return `${this.#path}.lock`
  }

  #time(): string {
    return new Date(this.#now()).toISOString()
  }

  #change(changed: (tokens: readonly StoredToken[]) => readonly StoredToken[]): void {
    try {
      makeDirectory(join(this.#path, '..'))
      lockedNow(this.#path, () => this.#write(changed(this.#read())))
    } catch (error) {
      if (isParleyError(error)) throw error
      this.#unusable(reasonOf(error), error)
    }
  }

  #write(tokens: readonly StoredToken[]): void {
    replaceFile(this.#path, `${JSON.stringify({ tokens }, null, 2)}\n`)
  }

  #read(): readonly StoredToken[] {
    let text: string | undefined
    let parsed: unknown
    try {
      text = readTextSync(this.#path)
      parsed = text === undefined ? { tokens: [] } : JSON.parse(text)
    } catch (error) {
      // The parser would quote what it read.
      return this.#unusable(text === undefined ? reasonOf(error) : 'it is not JSON', error)
    }
    const tokens = (parsed as { readonly tokens?: unknown } | null)?.tokens
    if (Array.isArray(tokens) && tokens.every(isStored)) return tokens
    return this.#unusable('it does not have the form that Parley wrote')
  }

  #unusable(reason: ErrorDetails<'TOKENS_UNUSABLE'>['reason'], cause?: unknown): never {
    return fail('TOKENS_UNUSABLE', { path: this.#path, reason }, cause)
  }
}

/** Who connected with a token. */
export interface TokenHolder {
  /** Another token, or the same one with another role, is another holder. */
  readonly id: string
  readonly name: string
  readonly role: Role
}

/** The tokens that are valid at one moment, by their hash. */
export class TokenRing {
  readonly #byHash: ReadonlyMap<string, StoredToken>

  constructor(tokens: readonly StoredToken[]) {
    this.#byHash = new Map(tokens.map((one) => [one.sha256, one]))
  }

  get size(): number {
    return this.#byHash.size
  }

  /** Undefined for a wrong token. */
  holderOf(offered: string): TokenHolder | undefined {
    const hash = hashOf(offered)
    const found = this.#byHash.get(hash.toString('hex'))
    if (found === undefined || !timingSafeEqual(hash, Buffer.from(found.sha256, 'hex'))) return undefined
    return { id: idOf(found), name: found.name, role: found.role }
  }

  /** Why the holder may go on no longer: its token is gone, or has another role now. Undefined while it may. */
  changeFor({ id, name }: TokenHolder): 'removed' | 'other role' | undefined {
    const now = [...this.#byHash.values()]
    if (now.some((one) => idOf(one) === id)) return undefined
    const [hash] = id.split(' ')
    return now.some((one) => one.name === name && one.sha256 === hash) ? 'other role' : 'removed'
  }
}

function usedAt(token: StoredToken, lastUsed: string): StoredToken {
  return { ...token, lastUsed }
}

function idOf({ sha256, role }: StoredToken): string {
  return `${sha256} ${role}`
}

function hashOf(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}

function isStored(value: unknown): value is StoredToken {
  if (typeof value !== 'object' || value === null) return false
  const { name, role, created, lastUsed, sha256 } = value as Readonly<Record<string, unknown>>
  return (
    typeof name === 'string' &&
    isRole(role) &&
    typeof created === 'string' &&
    (lastUsed === undefined || typeof lastUsed === 'string') &&
    typeof sha256 === 'string' &&
    /^[\da-f]{64}$/u.test(sha256)
  )
}
