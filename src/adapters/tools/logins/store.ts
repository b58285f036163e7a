/** What logins brought: one file for each server, for the user's eyes only, and in it one account for each issuer. */
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { StoredOAuthClientInformation, StoredOAuthTokens } from '@modelcontextprotocol/client'
import type { Clock } from '../../../ports/clock.ts'
import { alone } from './lock.ts'

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
  const path = join(directory, `${createHash('sha256').update(server).digest('hex').slice(0, 32)}.json`)
  let known: { readonly stamp: string; readonly kept: Kept } | undefined

  function stamp(): string {
    const found = statSync(path, { throwIfNoEntry: false, bigint: true })
    return found === undefined ? '' : `${found.mtimeNs} ${found.ino} ${found.size}`
  }

  function read(): Kept {
    const now = stamp()
    if (known?.stamp !== now) known = { stamp: now, kept: readFile(path) ?? { server, accounts: {} } }
    return known.kept
  }

  return {
    server,
    stamp,
    read,
    write(change) {
      const draft = `${path}.${clock.id()}`
      mkdirSync(directory, { recursive: true, mode: 0o700 })
      writeFileSync(draft, `${JSON.stringify(change(read()), null, 2)}\n`, { mode: 0o600 })
      renameSync(draft, path)
    },
    remove() {
      const was = stamp() !== ''
      rmSync(path, { force: true })
      return was
    },
    alone(work) {
      mkdirSync(directory, { recursive: true, mode: 0o700 })
      return alone(`${path}.lock`, clock, work)
    },
  }
}

/** What follows the path may be a key, and says nothing of who lets us in. */
function placeOf(address: string): string {
  const { origin, pathname } = new URL(address)
  return origin + pathname
}

function readFile(path: string): Kept | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Kept
  } catch {
    // There was no login yet; a file that cannot be read is none.
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
