/** An attempt to connect a server, and what is there when it answered. */
import type { Client } from '@modelcontextprotocol/client'
import type { ConnectRequest, ServerTool, McpHostContext } from '../../host/mcp-types.ts'
import type { Authorization } from '../../oauth/authorization.ts'
import type { AnswerableRequests } from '../request/pending-requests.ts'
import type { OpenTransport } from '../../transport/transport-factory.ts'
import type { Kind } from '../lists/listing.ts'
import type { Redact } from '../request/redact.ts'

export interface ConnectAttempt {
  readonly request: ConnectRequest
  readonly around: McpHostContext
  readonly redact: Redact
  /** Of a server that may want somebody to log in. */
  readonly authorization: Authorization | undefined
}

export interface SessionEvents {
  readonly onChanged: (kind: Kind) => void
  readonly onGone: (reason: string) => void
}

export interface Session {
  readonly client: Client
  readonly link: OpenTransport
  readonly askable: Set<AnswerableRequests>
  /** The tools of the listing that is under way or was the last, page by page. */
  readonly listed: ServerTool[]
  /** Tells people, once, what is wrong with the server. */
  readonly warn: (sentence: string) => void
  /** Who is told from now on. */
  readonly listen: (events: SessionEvents) => void
}
