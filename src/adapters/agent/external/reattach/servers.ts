/** The MCP servers of a session as an agent is given them. */
import type { AgentSession } from '../../../../ports/agent.ts'
import type { McpFront } from '../../../../ports/mcp-front.ts'
import type { McpServer, Tool } from '../../../../ports/tools.ts'
import type { Elicitation, ElicitationAnswer } from '../../../../ports/values/elicitation.ts'
import type { AgentLaunch } from '../launch.ts'
import type { Quirks } from '../quirks.ts'
import type { AgentAbilities } from './abilities.ts'

export interface ServersGiven {
  /** As the agent gets them. Contains secrets. */
  readonly servers: readonly object[]
  /** Variables and headers among them, whose values may be secret. */
  readonly secrets: Readonly<Record<string, string>>
  /** The names of those that it cannot use. */
  readonly leftOut: readonly string[]
  /** False once the session has others. */
  isCurrent(): boolean
  /** The agent is gone, and its addresses with it. */
  close(): Promise<void>
}

/** What the MCP servers of an agent ask its user, through Parley's own address of each. */
export interface ServerQuestions {
  /** A question of a server. Only what the user accepted is an acceptance. */
  elicit(question: Elicitation): Promise<ElicitationAnswer>
  /** Asks about a call of an agent that never asks itself; a sentence refuses it. */
  permit(tool: Tool, args: unknown): Promise<string | undefined>
}

export interface ServersWay {
  readonly way: AgentLaunch['mcp']
  readonly mcp: AgentAbilities['mcp']
  readonly front: McpFront | undefined
  readonly questions: ServerQuestions
  readonly asks: Quirks['asks']
}

/**
 * By Parley's own connections, if the agent speaks HTTP: then the secrets of the servers stay here, and a server that is slow or
 * dead does not hold up the agent. Otherwise those that the agent can reach by itself are passed on.
 */
export async function serversFor(
  session: AgentSession,
  { way, mcp, front, questions, asks }: ServersWay,
): Promise<ServersGiven> {
  const { mcpServers } = session
  if (way === 'front' && mcp.http && front !== undefined) {
    const open = await front.open({
      id: session.id,
      get roots() {
        return session.roots
      },
      get mcpServers() {
        return session.mcpServers
      },
      notice: (sentence) => void session.notice(sentence),
      elicit: (question) => questions.elicit(question),
      // Who is asked by the agent is not asked a second time.
      ...(asks === 'never' && { permit: (tool, args) => questions.permit(tool, args) }),
    })
    return {
      servers: open.servers.map((server) => serverOut({ type: 'http', ...server })),
      secrets: Object.fromEntries(open.servers.flatMap(({ headers }) => headers)),
      leftOut: [],
      isCurrent: () => open.isCurrent(),
      close: () => open.close(),
    }
  }
  // Servers of configuration files are reached through the front alone.
  const ofFiles = front?.namesOf(session).slice(mcpServers.length) ?? []
  const fits = (server: McpServer): boolean => way !== 'none' && (server.type === 'stdio' || mcp[server.type])
  return {
    servers: mcpServers.filter(fits).map(serverOut),
    secrets: Object.assign({}, ...mcpServers.filter(fits).map(tableOf)),
    leftOut: [...mcpServers.filter((server) => !fits(server)).map(({ name }) => name), ...ofFiles],
    isCurrent: () => JSON.stringify(session.mcpServers) === JSON.stringify(mcpServers),
    close: async () => undefined,
  }
}

/** Several servers may have the same names. */
function tableOf(server: McpServer, at: number): Readonly<Record<string, string>> {
  const pairs = server.type === 'stdio' ? Object.entries(server.env) : server.headers
  return Object.fromEntries(pairs.map(([name, value]) => [`${name} ${at}`, value]))
}

function serverOut(server: McpServer): object {
  if (server.type !== 'stdio') {
    const { type, name, url, headers } = server
    return { type, name, url, headers: headers.map(([header, value]) => ({ name: header, value })) }
  }
  const { name, command, args, env } = server
  return { name, command, args, env: Object.entries(env).map(([variable, value]) => ({ name: variable, value })) }
}
