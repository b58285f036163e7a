/** Methods of the server itself, beyond ACP, and what its status says of this machine. */
import { statSync } from 'node:fs'
import { join } from 'node:path'
import type { Scope } from '../../credentials/scope.ts'
import type { OwnMethods } from '../../edge/acp/version.ts'
import { type ServerControl, adminMethods } from '../admin/admin-methods.ts'
import { mcpMethod } from '../admin/mcp-servers.ts'
import type { Owner } from '../compose/compose.ts'
import { searchMethod } from '../compose/session-search.ts'
import { importMethods } from '../import/import-methods.ts'

interface Caller {
  /** The state directory. */
  readonly home: string
  /** The sessions that exist for it. */
  readonly scope?: Scope | undefined
}

export function serverMethods(owner: Owner, orders: ServerControl, { home, scope }: Caller): OwnMethods {
  return {
    ...adminMethods(orders),
    ...accessMethods(home, owner),
    ...searchMethod(owner.search, scope),
    ...importMethods(owner),
    ...mcpMethod(owner),
  }
}

/** Few connections call them, and no start waits for what they load. */
const ACCESS_METHODS = ['list', 'pair', 'token', 'share', 'role', 'remove'] as const

function accessMethods(home: string, { clock }: Owner): OwnMethods {
  const call = (name: (typeof ACCESS_METHODS)[number]) => async (params: unknown) => {
    const { accessMethods: load } = await import('../admin/access-methods.ts')
    return load(home, clock)[`_parley/access/${name}`](params)
  }
  return Object.fromEntries(ACCESS_METHODS.map((name) => [`_parley/access/${name}`, call(name)]))
}

/** What the server uses of this machine: its memory, and the journal on the disk with what has still to be moved into its place. */
export function usageIn(home: string): { readonly residentBytes: number; readonly journalBytes: number } {
  const journalBytes = ['journal.db', 'journal.db-wal']
    .map((name) => statSync(join(home, name), { throwIfNoEntry: false })?.size ?? 0)
    .reduce((sum, size) => sum + size, 0)
  return { residentBytes: process.memoryUsage.rss(), journalBytes }
}
