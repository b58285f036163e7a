/**
 * The answer to `initialize` of a server that has just started, for a client whose configuration no server has served
 * yet. It is made by the functions that the server uses, so that the two are the same.
 */
import type { Config } from '../../config/settings.ts'
import { initializeResult } from '../../edge/acp/v1/initialize/initialize.ts'
import { acceptedAtStart } from '../compose/models.ts'
import { serverInfo } from '../server-info.ts'

/** Methods of the server itself, beyond ACP, in the order in which the server names them. */
const SERVER_METHODS = [
  '_parley/status',
  '_parley/stop',
  '_parley/listen',
  '_parley/access/list',
  '_parley/access/pair',
  '_parley/access/token',
  '_parley/access/share',
  '_parley/access/role',
  '_parley/access/remove',
  '_parley/search',
  '_parley/import',
  '_parley/import/upload',
  '_parley/agents/import',
  '_parley/servers',
  '_parley/complete',
  '_parley/agents',
  '_parley/logs',
  '_parley/models',
  '_parley/agents/test',
  '_parley/mcp/list',
  '_parley/mcp/test',
  '_parley/mcp/add',
  '_parley/mcp/remove',
  '_parley/rules/list',
  '_parley/rules/add',
  '_parley/rules/remove',
] as const

/** Undefined where the answer depends on more than the settings, as on a script or on an external agent. */
export async function firstOffer(config: Config): Promise<Readonly<Record<string, unknown>> | undefined> {
  const accepts = await acceptedAtStart(config)
  if (accepts === undefined) return undefined
  const { experimental } = config
  const offer = { info: serverInfo, accepts, methods: SERVER_METHODS, experimental }
  return { ...initializeResult({ protocolVersion: 1 }, { ...offer, role: 'admin', authMethods: [], logins: [] }) }
}
