/** An attempt to connect a server, and what is there when it answered. */
import type { Client } from '@modelcontextprotocol/client'
import type { ConnectRequest, ServerTool, Surroundings } from '../connection.ts'
import type { Authorization } from '../logins/authorization.ts'
import type { Askable } from './asking.ts'
import type { Link } from './link.ts'
import type { Kind } from './listing.ts'
import type { Redact } from './redact.ts'

export interface Attempt {
  readonly request: ConnectRequest
  readonly around: Surroundings
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
  readonly link: Link
  readonly askable: Set<Askable>
  /** The tools of the listing that is under way or was the last, page by page. */
  readonly listed: ServerTool[]
  /** Tells people, once, what is wrong with the server. */
  readonly warn: (sentence: string) => void
  /** Who is told from now on. */
  readonly listen: (events: SessionEvents) => void
}
