/** The MCP servers of a session as an agent is given them. */
import type { McpServer } from '../../../../ports/tools.ts'
import type { AgentLaunch } from '../launch.ts'
import type { AgentAbilities } from './abilities.ts'

export interface ServersGiven {
  /** As the agent gets them. Contains secrets. */
  readonly servers: readonly object[]
  /** The names of those that it cannot use. */
  readonly leftOut: readonly string[]
}

export function serversFor(
  servers: readonly McpServer[],
  way: AgentLaunch['mcp'],
  { mcp }: Pick<AgentAbilities, 'mcp'>,
): ServersGiven {
  const fits = (server: McpServer): boolean => way !== 'none' && (server.type === 'stdio' || mcp[server.type])
  return {
    servers: servers.filter(fits).map(serverOut),
    leftOut: servers.filter((server) => !fits(server)).map(({ name }) => name),
  }
}

function serverOut(server: McpServer): object {
  if (server.type !== 'stdio') {
    const { type, name, url, headers } = server
    return { type, name, url, headers: headers.map(([header, value]) => ({ name: header, value })) }
  }
  const { name, command, args, env } = server
  return { name, command, args, env: Object.entries(env).map(([variable, value]) => ({ name: variable, value })) }
}
