/** Methods of the server itself, beyond ACP. */
import type { Scope } from '../../credentials/scope.ts'
import type { OwnMethods } from '../../edge/acp/version.ts'
import { accessMethods } from '../admin/access-methods.ts'
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
    ...accessMethods(home, owner.clock),
    ...searchMethod(owner.search, scope),
    ...importMethods(owner),
    ...mcpMethod(owner),
  }
}
