/** Stores logins: one file per server, readable only by the user, with one account per issuer. */
import { createHash } from 'node:crypto'
import { readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { StoredOAuthClientInformation, StoredOAuthTokens } from '@modelcontextprotocol/client'
import type { Clock } from '../../../ports/clock.ts'
import { replaceFile } from '../../../state-files/atomic-file.ts'
import { locked } from '../../../state-files/file-lock.ts'

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

export interface Store {
  readonly server: string
  read(): StoredLogins
  /** Changes the file atomically. Call it under `withLock`. */
  write(change: (kept: StoredLogins) => StoredLogins): void
  /** Deletes the file; returns whether it existed. */
  remove(): boolean
  /** Runs `work` while no other process does. */
  withLock<Result>(work: () => Promise<Result>): Promise<Result>
  /** Changes with every write of any process. */
  stamp(): string
}

export function openStore(directory: string, address: string, clock: Clock): Store {
  const server = placeOf(address)
  const name = createHash('sha256').update(server).digest('hex').slice(0, 32)
  const path = join(directory, `${name}.json`)
  let known: { readonly stamp: string; readonly kept: StoredLogins } | undefined

  function stamp(): string {
    const found = statSync(path, { throwIfNoEntry: false, bigint: true })
    return found === undefined ? '' : `${found.mtimeNs} ${found.ino} ${found.size}`
  }

  function read(): StoredLogins {
    const now = stamp()
    if (known?.stamp !== now) known = { stamp: now, kept: readLogins(path, server) }
    return known.kept
  }

  return {
    server,
    stamp,
    read,
    write(change) {
      replaceFile(path, `${JSON.stringify(change(readLogins(path, server)), null, 2)}\n`)
    },
    remove() {
      const was = stamp() !== ''
      rmSync(path, { force: true })
      return was
    },
    withLock: (work) => locked(join(directory, name), clock, work),
  }
}

/** Without the query, which may contain a key and does not identify the server. */
function placeOf(address: string): string {
  const { origin, pathname } = new URL(address)
  return origin + pathname
}

/** Throws when the file exists and cannot be read: a write would replace its content. */
function readLogins(path: string, server: string): StoredLogins {
  const nothing = { server, accounts: {} }
  const found = statSync(path, { throwIfNoEntry: false })
  if (found === undefined) return nothing
  return parsed(readFileSync(path, 'utf8')) ?? nothing
}

function parsed(text: string): StoredLogins | undefined {
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
