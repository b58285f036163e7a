/**
 * The methods that a client may call, by its transport and the token that it gave. This one table is checked before a
 * method runs.
 */
import { fail } from '../errors/parley-error.ts'

/** `stdio` is a pipe to the process that started this one. Nothing listens on `http` or `websocket` yet. */
export type TransportKind = 'stdio' | 'unix socket' | 'http' | 'websocket'

/** `missing`: the server demands a token, and this connection has not given it. */
export type TokenState = 'not demanded' | 'missing' | 'valid'

/** Who is at the other end of a connection. */
export interface Principal {
  readonly transport: TransportKind
  /** Only the user who runs the server can open this transport: a pipe of their own, or a socket with mode 0600. */
  readonly isLocalUser: boolean
}

interface MethodAccess {
  readonly needsToken: boolean
  /** It stops or administers the server, or names paths of its machine. */
  readonly isLocalOnly: boolean
}

const ANYONE: MethodAccess = { needsToken: false, isLocalOnly: false }
const CLIENT: MethodAccess = { needsToken: true, isLocalOnly: false }
/** The user can stop the server with a signal as well, so the token would protect nothing. */
const LOCAL_USER: MethodAccess = { needsToken: false, isLocalOnly: true }
const LOCAL_CLIENT: MethodAccess = { needsToken: true, isLocalOnly: true }

/** Every method that a client can call. A method without a row is refused as unknown, even if it is implemented. */
export const METHOD_ACCESS = {
  initialize: ANYONE,
  authenticate: ANYONE,
  logout: ANYONE,
  'session/new': CLIENT,
  'session/load': CLIENT,
  'session/resume': CLIENT,
  'session/fork': CLIENT,
  'session/list': CLIENT,
  'session/prompt': CLIENT,
  'session/cancel': CLIENT,
  'session/set_mode': CLIENT,
  'session/set_config_option': CLIENT,
  'session/close': CLIENT,
  'session/delete': CLIENT,
  '$/cancel_request': CLIENT,
  '_parley/rename': CLIENT,
  '_parley/fork': CLIENT,
  '_parley/revoke': CLIENT,
  '_parley/search': CLIENT,
  '_parley/complete': CLIENT,
  // Says why an MCP server does not start, which may quote its command and its directory.
  '_parley/servers': LOCAL_CLIENT,
  // Reads a file by its path.
  '_parley/import': LOCAL_CLIENT,
  // Names the socket.
  '_parley/status': LOCAL_USER,
  '_parley/stop': LOCAL_USER,
} as const satisfies Readonly<Record<string, MethodAccess>>

export type Method = keyof typeof METHOD_ACCESS

/** Methods that start work. A server that is stopping refuses them. Running work may still be cancelled, read and closed. */
const STARTS_WORK: ReadonlySet<string> = new Set<Method>([
  'session/new',
  'session/prompt',
  'session/fork',
  '_parley/fork',
  '_parley/import',
])

/** Whether the server is between the order to stop and the stop. */
export interface Draining {
  readonly isStopping: boolean
}

/**
 * The transports over which clients may send variables of their environment. Over stdio the server has the same
 * environment already.
 */
const TAKES_VARIABLES: ReadonlySet<TransportKind> = new Set(['unix socket'])

/** The access that one connection has now. A client can authenticate and log out while the connection lasts. */
export class Access {
  readonly #principal: Principal
  readonly #server: Draining | undefined
  token: TokenState

  /** A `server` that is absent stops together with its only client. */
  constructor(principal: Principal, token: TokenState, server?: Draining) {
    this.#principal = principal
    this.#server = server
    this.token = token
  }

  /** Whether the connection may send variables of its environment, such as model keys, for its sessions. */
  get mayLendVariables(): boolean {
    const { isLocalUser, transport } = this.#principal
    return isLocalUser && TAKES_VARIABLES.has(transport)
  }

  /** Throws LOCAL_USER_ONLY, AUTH_REQUIRED, METHOD_UNKNOWN or SERVER_STOPPING. */
  require(method: string): void {
    const { needsToken, isLocalOnly } = accessOf(method) ?? CLIENT
    if (isLocalOnly && !this.#principal.isLocalUser) fail('LOCAL_USER_ONLY', { method })
    if (needsToken && this.token === 'missing') fail('AUTH_REQUIRED', { method })
    if (accessOf(method) === undefined) fail('METHOD_UNKNOWN', { method })
    if (STARTS_WORK.has(method) && this.#server?.isStopping === true) fail('SERVER_STOPPING', {})
  }

  /** Whether this principal may ever call the method, once it has given the token. */
  canReach(method: string): boolean {
    const access = accessOf(method)
    return access !== undefined && (!access.isLocalOnly || this.#principal.isLocalUser)
  }
}

function accessOf(method: string): MethodAccess | undefined {
  return Object.hasOwn(METHOD_ACCESS, method) ? METHOD_ACCESS[method as Method] : undefined
}
