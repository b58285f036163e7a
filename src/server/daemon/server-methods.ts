/** Methods of the server itself, beyond ACP. */
import type { Scope } from '../../credentials/scope.ts'
import type { OwnMethods } from '../../edge/acp/version.ts'
import { type ServerControl, adminMethods } from '../admin/admin-methods.ts'
import { mcpMethod } from '../admin/mcp-servers.ts'
import type { Owner } from '../compose/compose.ts'
import { searchMethod } from '../compose/session-search.ts'
import { importMethods } from '../import/import-methods.ts'

export function serverMethods(owner: Owner, orders: ServerControl, scope: Scope = 'all'): OwnMethods {
  return { ...adminMethods(orders), ...searchMethod(owner.search, scope), ...importMethods(owner), ...mcpMethod(owner) }
}
