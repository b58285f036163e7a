/** All credentials of a server: recognises a secret, says what it gives access to, and whether it is still valid. */
import type { Clock } from '../ports/clock.ts'
import type { CredentialPlace } from './credential-documents.ts'
import { AccessTokens, type TokenHolder } from './access-tokens.ts'
import { Devices } from './devices.ts'
import type { Role } from './roles.ts'
import type { Scope } from './scope.ts'
import { hashOf } from './secret.ts'
import { ShareLinks } from './share-links.ts'

interface Key {
  readonly sha256: string
  readonly holder: Omit<TokenHolder, 'id'>
}

/** The credentials that are valid at one moment, by their hash. */
export class KeyRing {
  readonly #byHash: ReadonlyMap<string, TokenHolder>
  /** False if a file could not be used. Then a credential that is not found may still exist. */
  readonly isWhole: boolean

  constructor(keys: readonly Key[], isWhole = true) {
    this.isWhole = isWhole
    this.#byHash = new Map(keys.map((key) => [key.sha256, { ...key.holder, id: idOf(key) }]))
  }

  /** Undefined for a wrong secret. It is looked up by its hash, so the time that takes says nothing about a right one. */
  holderOf(offered: string): TokenHolder | undefined {
    return this.#byHash.get(hashOf(offered))
  }

  /** Undefined where no credential has this hash. */
  holderWith(sha256: string): TokenHolder | undefined {
    return this.#byHash.get(sha256)
  }

  /** Why the holder may go on no longer: its credential is gone, or gives something else now. Undefined while it may. */
  changeFor({ id }: Pick<TokenHolder, 'id'>): 'removed' | 'other role' | undefined {
    const now = this.#byHash.get(hashIn(id))
    if (now === undefined) return 'removed'
    return now.id === id ? undefined : 'other role'
  }
}

/** The credentials of one state directory, or of a cluster. */
export class Credentials {
  readonly tokens: AccessTokens
  readonly devices: Devices
  readonly shares: ShareLinks
  /** Of each file, what was read last. */
  readonly #read = new Map<string, readonly Key[]>()

  constructor(place: CredentialPlace, clock: Pick<Clock, 'now'>) {
    this.tokens = new AccessTokens(place, clock)
    this.devices = new Devices(place, clock)
    this.shares = new ShareLinks(place, clock)
  }

  /**
   * A file that cannot be used admits no client and is reported; the others still do. Where it was not even opened, because the
   * server has too many files open just now, nothing is known against what it said last.
   */
  ring(report: (error: unknown) => void): KeyRing {
    let isWhole = true
    const keysOf = (kind: TokenHolder['kind'], read: () => readonly Key[]): readonly Key[] => {
      try {
        const keys = read()
        this.#read.set(kind, keys)
        return keys
      } catch (error) {
        isWhole = false
        report(error)
        return isShortage(error) ? (this.#read.get(kind) ?? []) : []
      }
    }
    const keys = [
      ...keysOf('token', () => this.tokens.stored().map((one) => keyOf('token', one))),
      ...keysOf('device', () => this.devices.stored().map((one) => keyOf('device', one))),
      ...keysOf('share', () => this.#shareKeys()),
    ]
    return new KeyRing(keys, isWhole)
  }

  /** Notes that the holder has connected. */
  used({ id, kind }: TokenHolder): void {
    if (kind === 'token') this.tokens.used(hashIn(id))
    if (kind === 'device') this.devices.used(hashIn(id))
  }

  /** The hashes of all. Throws TOKENS_UNUSABLE. */
  hashes(): readonly string[] {
    return [this.tokens, this.devices, this.shares].flatMap((one) => one.stored().map(({ sha256 }) => sha256))
  }

  /** Takes what others have, but not codes of pairing. Returns how many. Throws TOKENS_UNUSABLE. */
  adopt({ tokens, devices, shares }: Credentials, except: ReadonlySet<string> = new Set()): number {
    const wanted = <Stored extends { readonly sha256: string }>(stored: readonly Stored[]): readonly Stored[] =>
      stored.filter(({ sha256 }) => !except.has(sha256))
    return (
      this.tokens.adopt(wanted(tokens.stored())) +
      this.devices.adopt(wanted(devices.stored())) +
      this.shares.adopt(wanted(shares.stored()))
    )
  }

  /** A device leaves. Throws TOKENS_UNUSABLE. */
  leave({ id }: TokenHolder): void {
    this.devices.forget(hashIn(id))
  }

  #shareKeys(): readonly Key[] {
    return this.shares.stored().map(({ id, sessionId, tools, sha256 }) => {
      const scope = { sessions: [sessionId] }
      return { sha256, holder: { kind: 'share', name: id, role: 'read', scope, hidesTools: !tools } }
    })
  }
}

/** Of descriptors: the process has as many open as it may, or the machine has. */
function isShortage(error: unknown): boolean {
  const { code } = ((error as Error | undefined)?.cause ?? {}) as NodeJS.ErrnoException
  return code === 'EMFILE' || code === 'ENFILE'
}

interface StoredCredential {
  readonly sha256: string
  readonly name: string
  readonly role: Role
  readonly scope?: Scope
}

function keyOf(kind: 'token' | 'device', { sha256, name, role, scope = 'all' }: StoredCredential): Key {
  return { sha256, holder: { kind, name, role, scope } }
}

function idOf({ sha256, holder: { role, scope } }: Key): string {
  return `${sha256} ${role} ${JSON.stringify(scope)}`
}

/** The hash of the secret that the holder has shown. */
export function credentialOf({ id }: Pick<TokenHolder, 'id'>): string {
  return hashIn(id)
}

function hashIn(id: string): string {
  return id.slice(0, id.indexOf(' '))
}
