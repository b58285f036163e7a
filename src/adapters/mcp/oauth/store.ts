/** Stores logins: one file per server, readable only by the user, with one account per issuer. */
import { createHash } from 'node:crypto'
import { readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { StoredOAuthClientInformation, StoredOAuthTokens } from '@modelcontextprotocol/client'
import type { Clock } from '../../../ports/clock.ts'
import { replaceFile } from '../../../state-files/atomic-file.ts'

/** The client and tokens that one authorization server issued; never sent to another. */
export interface Account {
  readonly client?: StoredOAuthClientInformation
  /** The redirect address that the client was registered with. */
  readonly redirect?: string
  readonly tokens?: StoredOAuthTokens
}

export interface StoredLogins {
  /** The server's URL without the query, which may be secret. */
  readonly server: string
  /** The issuer of the current token. */
  readonly issuer?: string
  /** The scope that the server was found to require; the next login requests it. */
  readonly wanted?: string
  readonly accounts: Readonly<Record<string, Account>>
}

/** The stored logins of one server, shared by every process that uses the directory. */
export class LoginStore {
  readonly server: string
  readonly #clock: Clock
  /** Without the suffixes of the file and its lock. */
  readonly #place: string
  #known: { readonly stamp: string; readonly kept: StoredLogins } | undefined

  constructor(directory: string, address: string, clock: Clock) {
    this.server = addressWithoutQuery(address)
    this.#clock = clock
    this.#place = join(directory, createHash('sha256').update(this.server).digest('hex').slice(0, 32))
  }

  read(): StoredLogins {
    const stamp = this.stamp()
    if (this.#known?.stamp !== stamp) this.#known = { stamp, kept: readLogins(this.#path, this.server) }
    return this.#known.kept
  }

  /** The token of the current issuer. */
  token(): string | undefined {
    const kept = this.read()
    return accountOf(kept, kept.issuer).tokens?.access_token
  }

  /** Changes the file atomically. Call it under `withLock`. */
  write(change: (kept: StoredLogins) => StoredLogins): void {
    replaceFile(this.#path, `${JSON.stringify(change(readLogins(this.#path, this.server)), null, 2)}\n`)
  }

  /** Deletes the file; returns whether it existed. */
  remove(): boolean {
    const was = this.stamp() !== ''
    rmSync(this.#path, { force: true })
    return was
  }

  /** Runs `work` while no other process does. The lock is one of SQLite, which only logging in needs in this thread. */
  async withLock<Result>(work: () => Promise<Result>): Promise<Result> {
    const { locked } = await import('../../../state-files/file-lock.ts')
    return locked(this.#place, this.#clock, work)
  }

  /** Changes with every write of any process. */
  stamp(): string {
    const found = statSync(this.#path, { throwIfNoEntry: false, bigint: true })
    return found === undefined ? '' : `${found.mtimeNs} ${found.ino} ${found.size}`
  }

  get #path(): string {
    return `${this.#place}.json`
  }
}

/** Without the query, which may contain a key and does not identify the server. */
function addressWithoutQuery(address: string): string {
  const { origin, pathname } = new URL(address)
  return origin + pathname
}

/** Throws when the file exists and cannot be read: a write would replace its content. */
function readLogins(path: string, server: string): StoredLogins {
  const nothing = { server, accounts: {} }
  const found = statSync(path, { throwIfNoEntry: false })
  if (found === undefined) return nothing
  return parseLogins(readFileSync(path, 'utf8')) ?? nothing
}

function parseLogins(text: string): StoredLogins | undefined {
  try {
    const kept = JSON.parse(text) as StoredLogins
    return Object.keys(kept.accounts).length >= 0 ? kept : undefined
  } catch {
    // Not written by Parley, or damaged: it contains no usable login.
    return undefined
  }
}

export function accountOf({ accounts }: StoredLogins, issuer: string | undefined): Account {
  return (issuer !== undefined && Object.hasOwn(accounts, issuer) ? accounts[issuer] : undefined) ?? {}
}

/** `kept` with a changed account of this issuer. */
export function withAccount(kept: StoredLogins, issuer: string, change: Account): StoredLogins {
  return { ...kept, accounts: { ...kept.accounts, [issuer]: { ...accountOf(kept, issuer), ...change } } }
}

/** `kept` without the account of this issuer, which may be the current one. */
export function withoutAccount({ issuer, accounts, ...kept }: StoredLogins, gone: string): StoredLogins {
  const others = Object.fromEntries(Object.entries(accounts).filter(([name]) => name !== gone))
  return { ...kept, ...(issuer !== undefined && issuer !== gone && { issuer }), accounts: others }
}
