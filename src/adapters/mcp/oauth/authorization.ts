/** How a server is persuaded to let us in: a token that somebody's login brought, renewed where it can be. */
import type { Signal } from '../../../ports/signal.ts'
import type { Timer } from '../../../ports/clock.ts'
import type { HttpServer } from '../transport/headers.ts'

/** What people configured for the logins of one server. */
export interface LoginSettings {
  /** What the authorization server knows us by, where it was told beforehand. */
  readonly clientId?: string
  readonly clientSecret?: string
  /** Where a document stands that says who we are, for authorization servers that read one. */
  readonly clientMetadataUrl?: string
  /** What is asked for besides what the server itself says. */
  readonly scope?: string
  /** Where the browser is sent back to: an address of this machine. */
  readonly redirectUrl?: string
}

/** What a server said when it did not let us in. */
export interface Refusal {
  /** What it was shown. */
  readonly token: string | undefined
  readonly resourceMetadataUrl?: URL | undefined
  /** What it wants the token to be good for. */
  readonly scope?: string | undefined
}

/** A login that is under way. */
export interface Login {
  /** The page that a person has to open. */
  readonly url: string
  /** Resolves when the tokens are kept; rejects with why not. */
  readonly done: Promise<void>
  /** Whoever waited for it waits no longer; when nobody does, it is over. Idempotent. */
  leave(): void
}

export interface Authorization {
  /** What is shown with every request, if there is anything. */
  token(): string | undefined
  /** Whether there is another token than the one refused, after a renewal if need be. Rejects when that failed for now. */
  renew(refusal: Refusal): Promise<boolean>
  /** The server wants more than the token is good for: the next login asks for it. */
  want(scope: string): Promise<void>
  /** Begins a login, or joins the one that is under way. Rejects with MCP_LOGIN_FAILED. */
  login(signal: Signal): Promise<Login>
  /** Calls `changed` whenever a login, here or in another process, brought something new. */
  onChange(changed: () => void): Timer
}

/** The logins of one state directory. */
export interface Logins {
  at(server: HttpServer, settings?: LoginSettings): Authorization
  /** Whether there was anything to forget. */
  forget(server: HttpServer): Promise<boolean>
}
