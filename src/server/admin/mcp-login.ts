/** Logs users in and out at MCP servers, without a session and without the state. */
import { fail } from '../../errors/parley-error.ts'
import type { Config } from '../../config/settings.ts'
import type { McpServer } from '../../ports/tools.ts'
import { loginsOf } from '../compose/sessions.ts'
import type { LoginPlace } from '../compose/configured-mcp-servers.ts'

/** A login that waits for the user. */
export interface WaitingLogin {
  /** The page to open. */
  readonly url: string
  /** Rejects with MCP_LOGIN_FAILED. */
  readonly done: Promise<void>
}

type Web = Extract<McpServer, { readonly type: 'http' | 'sse' }>

/** Throws MCP_LOGIN_FAILED. Live sessions notice by themselves when it is done. */
export async function logIn(config: Config, { server, login }: LoginPlace, signal: AbortSignal): Promise<WaitingLogin> {
  return await loginsOf(config).at(overHttp(server), login).login(signal)
}

/** Whether anybody was logged in. */
export async function logOut(config: Config, { server }: LoginPlace): Promise<boolean> {
  return await loginsOf(config).forget(overHttp(server))
}

function overHttp(server: McpServer): Web {
  if (server.type !== 'stdio') return server
  const reason = 'it is a command, and gets what it needs from its env'
  return fail('MCP_LOGIN_FAILED', { server: server.name, reason })
}
