/** What logins brought: one file for each server, for the user's eyes only, and in it one account for each issuer. */
import { createHash } from 'node:crypto'
import { readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { StoredOAuthClientInformation, StoredOAuthTokens } from '@modelcontextprotocol/client'
import type { Clock } from '../../../ports/clock.ts'
import { replaceFile } from '../../../state-files/atomic-file.ts'
import { locked } from '../../../state-files/file-lock.ts'

/** What one authorization server gave us; none of it is ever shown to another. */
export interface Account {
  readonly client?: StoredOAuthClientInformation
  /** Where the browser was sent back to when the client was registered. */
  readonly redirect?: string
  readonly tokens?: StoredOAuthTokens
}

export interface Kept {
  /** The server, without what may be secret in its address. */
  readonly server: string
  /** Whose token counts now. */
  readonly issuer?: string
  /** What the server was found to want; the next login asks for it. */
  readonly wanted?: string
  readonly accounts: Readonly<Record<string, Account>>
}

export interface Store {
  readonly server: string
  read(): Kept
  /** Changes what is kept, whole or not at all. Call it under `alone`. */
  write(change: (kept: Kept) => Kept): void
  /** Whether there was anything. */
  remove(): boolean
  /** Only one of all processes works at a time. */
  alone<Result>(work: () => Promise<Result>): Promise<Result>
  /** Differs when something was written, by whomever. */
  stamp(): string
}

export function openStore(directory: string, address: string, clock: Clock): Store {
  const server = placeOf(address)
  const name = createHash('sha256').update(server).digest('hex').slice(0, 32)
  const path = join(directory, `${name}.json`)
  let known: { readonly stamp: string; readonly kept: Kept } | undefined

  function stamp(): string {
    const found = statSync(path, { throwIfNoEntry: false, bigint: true })
    return found === undefined ? '' : `${found.mtimeNs} ${found.ino} ${found.size}`
  }

  function read(): Kept {
    const now = stamp()
    if (known?.stamp !== now) known = { stamp: now, kept: keptIn(path, server) }
    return known.kept
  }

  return {
    server,
    stamp,
    read,
    write(change) {
      replaceFile(path, `${JSON.stringify(change(keptIn(path, server)), null, 2)}\n`)
    },
    remove() {
      const was = stamp() !== ''
      rmSync(path, { force: true })
      return was
    },
    alone: (work) => locked(join(directory, name), clock, work),
  }
}

/** What follows the path may be a key, and says nothing of who lets us in. */
function placeOf(address: string): string {
  const { origin, pathname } = new URL(address)
  return origin + pathname
}

/** Throws where the file is there and cannot be read: what is written in its place would lose what it holds. */
function keptIn(path: string, server: string): Kept {
  const nothing = { server, accounts: {} }
  const found = statSync(path, { throwIfNoEntry: false })
  if (found === undefined) return nothing
  return parsed(readFileSync(path, 'utf8')) ?? nothing
}

function parsed(text: string): Kept | undefined {
  try {
    const kept = JSON.parse(text) as Kept
    return Object.keys(kept.accounts).length >= 0 ? kept : undefined
  } catch {
    // Not written by us, or damaged: nothing in it lets us in anywhere.
    return undefined
  }
}

export function accountOf({ accounts }: Kept, issuer: string | undefined): Account {
  return (issuer !== undefined && Object.hasOwn(accounts, issuer) ? accounts[issuer] : undefined) ?? {}
}

/** With something of this issuer's account changed. */
export function withAccount(kept: Kept, issuer: string, change: Account): Kept {
  return { ...kept, accounts: { ...kept.accounts, [issuer]: { ...accountOf(kept, issuer), ...change } } }
}

/** Without this issuer's account, which may be the one whose token counted. */
export function withoutAccount({ issuer, accounts, ...kept }: Kept, gone: string): Kept {
  const others = Object.fromEntries(Object.entries(accounts).filter(([name]) => name !== gone))
  return { ...kept, ...(issuer !== undefined && issuer !== gone && { issuer }), accounts: others }
}
