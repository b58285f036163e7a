/** The MCP servers of a session as an agent in another process reaches them: by an address on this machine, with a token. */
import type { Elicitation, ElicitationAnswer } from './values/elicitation.ts'
import type { McpServer, Tool } from './tools.ts'

/**
 * Behind each address stands the connection that the session has anyway, so the agent gets neither the secrets nor the troubles of a
 * server: `initialize` is answered at once, and a list in at most two seconds.
 */
export interface McpFront {
  /** Opens an address for each MCP server that the session has now. Waits for no server. */
  open(session: FrontedSession): Promise<OpenFront>
  /** The names of the servers that the session has: those that clients declared, then those of configuration files. */
  namesOf(session: Pick<FrontedSession, 'roots' | 'mcpServers'>): readonly string[]
}

export interface FrontedSession {
  readonly id: string
  /** `[cwd, …additionalDirectories]`, absolute. */
  readonly roots: readonly string[]
  /** Those that clients declared, as they are now. */
  readonly mcpServers: readonly McpServer[]
  /** Tells the user a sentence about a server that cannot be used now. */
  notice(sentence: string): void
  /** Asked before each call that no rule decides; a sentence refuses it. Absent: the agent itself asks its user. */
  permit?(tool: Tool, args: unknown): Promise<string | undefined>
  /** Asks the user on behalf of a server. Absent, each question is answered `cancel`. */
  elicit?(question: Elicitation): Promise<ElicitationAnswer>
}

export interface OpenFront {
  readonly servers: readonly FrontedServer[]
  /** False as soon as the session has other servers than these. */
  isCurrent(): boolean
  /** The token opens nothing any more. Idempotent. */
  close(): Promise<void>
}

export interface FrontedServer {
  /** Plain, at most 48 characters, unique. */
  readonly name: string
  /** `http://127.0.0.1:PORT/NAME`. */
  readonly url: string
  /** Secrets: the token of this session. */
  readonly headers: readonly (readonly [name: string, value: string])[]
}
