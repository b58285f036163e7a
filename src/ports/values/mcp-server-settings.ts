/** What a user sets for an MCP server besides how it is reached: read by the configuration, followed by the host. */

export interface ServerRules {
  /** One process or connection for all sessions that configure it alike. Default: connections are shared, processes are not. */
  readonly shared?: boolean
  /** How long a shared server runs after its last session has left. Milliseconds. */
  readonly idleMs?: number
  /** Which protocol to speak, for servers where the negotiation fails. */
  readonly protocol?: 'auto' | 'legacy' | 'modern'
  /** Tool names of the server, or patterns with `*`. Default: all tools. */
  readonly include?: readonly string[]
  /** Takes precedence over `include`. */
  readonly exclude?: readonly string[]
  /** Milliseconds without an answer or progress. */
  readonly timeoutMs?: number
  /** Milliseconds for a whole call, also with progress. */
  readonly totalMs?: number
  /** Limits for single tools. */
  readonly tools?: Readonly<Record<string, { readonly timeoutMs?: number; readonly totalMs?: number }>>
}

/** How users log in to a server over HTTP that does not publish this itself. */
export interface LoginSettings {
  /** For a client that was registered with the authorization server in advance. */
  readonly clientId?: string
  readonly clientSecret?: string
  /** The URL of a client metadata document, for authorization servers that read one. */
  readonly clientMetadataUrl?: string
  /** Scopes to request besides those that the server names. */
  readonly scope?: string
  /** Where the browser is redirected after the login: an address of this machine. */
  readonly redirectUrl?: string
}
