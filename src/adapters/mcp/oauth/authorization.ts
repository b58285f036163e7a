/** OAuth for MCP servers: the tokens of a login, their renewal, and the login itself, as the rest of the code sees them. */
import type { Signal } from '../../../ports/values/signal.ts'
import type { Timer } from '../../../ports/clock.ts'
import type { LoginSettings } from '../../../ports/values/mcp-server-settings.ts'
import type { HttpMcpServer } from '../transport/headers.ts'

/** The answer of a server that rejected a request for lack of authorization. */
export interface AuthorizationRefusal {
  /** The token that was sent. */
  readonly token: string | undefined
  readonly resourceMetadataUrl?: URL | undefined
  /** The scope that it requires. */
  readonly scope?: string | undefined
}

/** A running login. */
export interface LoginAttempt {
  /** The page that the user has to open. */
  readonly url: string
  /** Resolves when the tokens are stored; rejects with the reason why not. */
  readonly done: Promise<void>
  /** Stops waiting for the login; when the last one stops, it is cancelled. Idempotent. */
  leave(): void
}

export interface Authorization {
  /** The token to send with every request, if there is one. */
  token(): string | undefined
  /** Whether there is now another token than the rejected one, after a renewal if necessary. Rejects when the renewal failed for now. */
  renew(refusal: AuthorizationRefusal): Promise<boolean>
  /** Remembers a scope that the server requires, so that the next login requests it. */
  want(scope: string): Promise<void>
  /** Starts a login, or joins the running one. Rejects with MCP_LOGIN_FAILED. */
  login(signal: Signal): Promise<LoginAttempt>
  /** Calls `changed` after each login or logout, also in another process. */
  onChange(changed: () => void): Timer
}

/** The logins of one state directory. */
export interface Logins {
  at(server: HttpMcpServer, settings?: LoginSettings): Authorization
  /** Deletes the login; resolves with whether there was one. */
  forget(server: HttpMcpServer): Promise<boolean>
}
