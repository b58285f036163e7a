/** An attempt to connect a server, and what is there when it answered. */
import type { Client } from '@modelcontextprotocol/client'
import type { ConnectRequest, ListKind, ServerTool, McpHostContext } from '../../host/mcp-types.ts'
import type { Authorization } from '../../oauth/authorization.ts'
import type { OpenCall } from '../request/server-requests.ts'
import type { OpenTransport } from '../../transport/transport-factory.ts'
import type { Redact } from '../request/redact.ts'

export interface ConnectAttempt {
  readonly request: ConnectRequest
  readonly context: McpHostContext
  readonly redact: Redact
  /** Of a server that may want somebody to log in. */
  readonly authorization: Authorization | undefined
}

export interface ServerEvents {
  readonly onChanged: (kind: ListKind) => void
  readonly onGone: (reason: string) => void
}

export interface Session {
  readonly client: Client
  readonly link: OpenTransport
  readonly openCalls: Set<OpenCall>
  /** The tools of the listing that is under way or was the last, page by page. */
  readonly listed: ServerTool[]
  /** Tells people, once, what is wrong with the server. */
  readonly warn: (sentence: string) => void
  /** Who is told from now on. */
  readonly listen: (events: ServerEvents) => void
}
