/** Types of one attempt to connect to a server, and of the protocol session that it opens. */
import type { Client } from '@modelcontextprotocol/client'
import type { ConnectRequest, ListKind, ServerTool, McpHostContext } from '../../host/mcp-types.ts'
import type { Authorization } from '../../oauth/authorization.ts'
import type { AskableCall } from '../request/server-requests.ts'
import type { OpenTransport } from '../../transport/transport-factory.ts'
import type { Redact } from '../request/redact.ts'

export interface ConnectAttempt {
  readonly request: ConnectRequest
  readonly context: McpHostContext
  readonly redact: Redact
  /** For a server behind a URL, which may require the user to log in. */
  readonly authorization: Authorization | undefined
}

export interface ServerEvents {
  readonly onChanged: (kind: ListKind) => void
  readonly onGone: (reason: string) => void
}

export interface ClientSession {
  readonly client: Client
  readonly transport: OpenTransport
  readonly openCalls: Set<AskableCall>
  /** The tools of the current or last listing, page by page. */
  readonly listed: ServerTool[]
  /** Shows the user a problem of the server, each once. */
  readonly warn: (sentence: string) => void
  /** Sets the receiver of the server's events. */
  readonly listen: (events: ServerEvents) => void
}
