/**
 * The table method → role: which methods a client may call, by its role, its scope and the token that it gave. It is checked before
 * any method runs; a method without a row is refused. `requireMayCreate` and `requireMayOpen` check what the client names in its
 * parameters: directories, MCP servers and scripts.
 */
import { ROLES, type Role } from '../credentials/roles.ts'
import type { Scope } from '../credentials/scope.ts'
import { fail } from '../errors/parley-error.ts'
import type { SessionDirectory } from '../session/handle.ts'
import { isBelowRoots } from './places/roots.ts'

/** `stdio` is a pipe to the process that started this one. */
export type TransportKind = 'stdio' | 'unix socket' | 'http' | 'websocket'

/** `missing`: the server demands a token, and this connection has not given it. */
export type TokenState = 'not demanded' | 'missing' | 'valid'

/** The client at the other end of a connection: its identity and its role. */
export interface Principal {
  readonly transport: TransportKind
  /** Only the user who runs the server can open this transport: a pipe of their own, or a socket with mode 0600. */
  readonly isLocalUser: boolean
  /** The local user has the role `admin`. */
  readonly role: Role
  /** The sessions that exist for it; absent: all. */
  readonly scope?: Scope | undefined
  /** Whose marks of what was read count on this connection; absent: the owner's, who also holds all paired devices. */
  readonly person?: string | undefined
  /** The name of the device or the token; absent: clients name themselves. */
  readonly name?: string | undefined
  /** Counts one more new session: seconds to wait before it may be started, or 0. Absent: there is no limit. */
  readonly waitForSession?: () => number
}

/** The principal of a transport that only the user who runs the server can open. */
export function localUser(transport: 'stdio' | 'unix socket'): Principal {
  return { transport, isLocalUser: true, role: 'admin' }
}

interface MethodAccess {
  /** Whether a client of a server that demands a token must have given it. */
  readonly needsToken: boolean
  /** The least role that may call it. */
  readonly role: Role
}

const ANYONE: MethodAccess = { needsToken: false, role: 'read' }
const READ: MethodAccess = { needsToken: true, role: 'read' }
const PROMPT: MethodAccess = { needsToken: true, role: 'prompt' }
const APPROVE: MethodAccess = { needsToken: true, role: 'approve' }
const ADMIN: MethodAccess = { needsToken: true, role: 'admin' }
/** The local user can stop the server with a signal as well, so the token would protect nothing. */
const ADMIN_WITHOUT_TOKEN: MethodAccess = { needsToken: false, role: 'admin' }

/** Every method that a client can call. A method without a row is refused as unknown, even if it is implemented. */
export const METHOD_ACCESS = {
  initialize: ANYONE,
  authenticate: ANYONE,
  logout: ANYONE,
  'session/load': READ,
  'session/resume': READ,
  'session/list': READ,
  // Of requests of the same connection.
  '$/cancel_request': READ,
  '_parley/search': READ,
  '_parley/page': READ,
  '_parley/outline': READ,
  // All that is stored, tool output included: not for a credential of some sessions, such as a share link.
  '_parley/export': READ,
  '_parley/seen': READ,
  '_parley/ping': ANYONE,
  'session/new': PROMPT,
  'session/fork': PROMPT,
  'session/prompt': PROMPT,
  'session/cancel': PROMPT,
  'session/close': PROMPT,
  '_parley/rename': PROMPT,
  // Those of other clients only with the role approve.
  '_parley/withdraw': PROMPT,
  '_parley/promote': PROMPT,
  // A client that may cancel a turn may also end an agent that ignores the cancel.
  '_parley/force_cancel': PROMPT,
  '_parley/release': PROMPT,
  '_parley/fork': PROMPT,
  '_parley/complete': PROMPT,
  // For who may begin a session: which agents it may have.
  '_parley/agents': PROMPT,
  '_parley/models': PROMPT,
  '_parley/files': PROMPT,
  '_parley/directories': PROMPT,
  // A mode can allow what would be asked about otherwise.
  'session/set_mode': APPROVE,
  'session/set_config_option': APPROVE,
  '_parley/revoke': APPROVE,
  '_parley/answer': APPROVE,
  'session/delete': ADMIN,
  // Says why an MCP server does not start, which may quote its command and its directory.
  '_parley/servers': ADMIN,
  // Reads a file of the server's machine by its path.
  '_parley/import': ADMIN,
  '_parley/import/upload': ADMIN,
  // Names directories, files and clients of the server's machine.
  '_parley/logs': ADMIN,
  // These read and change the settings, and start the commands of MCP servers.
  '_parley/mcp/list': ADMIN,
  '_parley/mcp/test': ADMIN,
  '_parley/mcp/add': ADMIN,
  '_parley/mcp/remove': ADMIN,
  '_parley/rules/list': ADMIN,
  '_parley/rules/add': ADMIN,
  '_parley/rules/remove': ADMIN,
  '_parley/agents/test': ADMIN,
  // Starts an agent, and reads what its user did with it elsewhere.
  '_parley/agents/import': ADMIN,
  // Which node of a cluster has a session.
  '_parley/cluster/move': ADMIN,
  '_parley/cluster/drain': ADMIN,
  // Lets others in.
  '_parley/listen': ADMIN,
  // Access of other clients.
  '_parley/access/list': ADMIN,
  '_parley/access/pair': ADMIN,
  '_parley/access/token': ADMIN,
  '_parley/access/share': ADMIN,
  '_parley/access/role': ADMIN,
  '_parley/access/remove': ADMIN,
  // Names the socket.
  '_parley/status': ADMIN_WITHOUT_TOKEN,
  '_parley/stop': ADMIN_WITHOUT_TOKEN,
} as const satisfies Readonly<Record<string, MethodAccess>>

export type Method = keyof typeof METHOD_ACCESS

/** Methods that start work. A server that is stopping refuses them. Running work may still be cancelled, read and closed. */
const STARTS_WORK: ReadonlySet<string> = new Set<Method>([
  'session/new',
  'session/prompt',
  'session/fork',
  '_parley/fork',
  '_parley/import',
  '_parley/agents/import',
])

/**
 * Methods for a credential that reaches only some sessions: they concern one session, or leave out the others. All else
 * concerns the whole server.
 */
const WITHIN_SCOPE: ReadonlySet<string> = new Set<Method>([
  'initialize',
  'authenticate',
  'logout',
  'session/load',
  'session/resume',
  'session/list',
  '$/cancel_request',
  '_parley/search',
  '_parley/page',
  '_parley/outline',
  '_parley/seen',
  '_parley/ping',
  '_parley/answer',
  '_parley/withdraw',
  '_parley/promote',
  'session/new',
  'session/fork',
  'session/prompt',
  'session/cancel',
  'session/close',
  '_parley/rename',
  '_parley/force_cancel',
  '_parley/release',
  '_parley/fork',
  '_parley/complete',
  '_parley/files',
  '_parley/directories',
  'session/set_mode',
  'session/set_config_option',
  '_parley/revoke',
  'session/delete',
])
const MAKES_SESSIONS: ReadonlySet<string> = new Set<Method>(['session/new', 'session/fork', '_parley/fork'])

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

  /** Whether its terminal is on the server's machine, and its user the server's. */
  get isLocalUser(): boolean {
    return this.#principal.isLocalUser
  }

  /**
   * Whether the connection may name what runs on or is read from the server's machine: directories that no session has yet,
   * MCP servers, scripts as agents.
   */
  get mayNamePlaces(): boolean {
    return this.hasRole('admin')
  }

  /** The sessions that exist for this connection. */
  get scope(): Scope {
    return this.#principal.scope ?? 'all'
  }

  get role(): Role {
    return this.#principal.role
  }

  get person(): string {
    return this.#principal.person ?? 'owner'
  }

  hasRole(needed: Role): boolean {
    return ROLES.indexOf(this.#principal.role) >= ROLES.indexOf(needed)
  }

  /** Throws ROLE_TOO_LOW. `what` begins its sentence. */
  requireRole(needed: Role, what: string): void {
    if (!this.hasRole(needed)) fail('ROLE_TOO_LOW', { what, needed, role: this.#principal.role })
  }

  /** Throws ROLE_TOO_LOW, AUTH_REQUIRED, METHOD_UNKNOWN, SCOPE_TOO_NARROW or SERVER_STOPPING. */
  require(method: string): void {
    const { needsToken, role } = accessOf(method) ?? READ
    this.requireRole(role, method)
    if (needsToken && this.token === 'missing') fail('AUTH_REQUIRED', { method })
    if (accessOf(method) === undefined) fail('METHOD_UNKNOWN', { method })
    if (!this.#isWithinScope(method)) fail('SCOPE_TOO_NARROW', { what: method })
    if (STARTS_WORK.has(method) && this.#server?.isStopping === true) fail('SERVER_STOPPING', {})
  }

  /** As `require`, once for each request: those that make sessions are counted. Throws NEW_SESSIONS_LIMIT too. */
  admit(method: string): void {
    this.require(method)
    const seconds = MAKES_SESSIONS.has(method) ? (this.#principal.waitForSession?.() ?? 0) : 0
    if (seconds > 0) fail('NEW_SESSIONS_LIMIT', { seconds })
  }

  /** Whether this connection may call the method now. */
  allows(method: string): boolean {
    return this.canReach(method) && this.token !== 'missing'
  }

  /** Whether this principal may ever call the method, once it has given the token. */
  canReach(method: string): boolean {
    const access = accessOf(method)
    return access !== undefined && this.hasRole(access.role) && this.#isWithinScope(method)
  }

  #isWithinScope(method: string): boolean {
    return this.scope === 'all' || WITHIN_SCOPE.has(method)
  }
}

function accessOf(method: string): MethodAccess | undefined {
  return Object.hasOwn(METHOD_ACCESS, method) ? METHOD_ACCESS[method as Method] : undefined
}

/**
 * What a client names when it opens a session. A directory, a command of an MCP server and a script are of the server's machine: a
 * client that may not administer it names only directories that sessions have already, or that are below the roots for remote
 * clients.
 */
interface NamedByClient {
  readonly cwd: string
  readonly additionalDirectories: readonly string[]
  readonly mcpServers: readonly unknown[]
}

interface Opener {
  readonly sessions: Pick<SessionDirectory, 'list'>
  readonly access: Access
  /** Below these a client may name any directory, too: the setting `remote_roots`. */
  readonly roots: readonly string[]
  readonly agent: {
    readonly name: string
    /** The client named it; otherwise it is that of the server's settings. */
    readonly isRequested?: boolean
    /** The client wants it also for sessions that have another agent. */
    readonly chosen: boolean
  }
}

const SCRIPT = 'script:'

/** For a session that does not exist yet. Throws ROLE_TOO_LOW and DIRECTORY_FOREIGN. */
export async function requireMayCreate(named: NamedByClient, opener: Opener): Promise<void> {
  requireAgent(opener)
  requireServers(named, opener)
  await requireKnownDirectories([['cwd', named.cwd], ...additional(named)], opener)
}

/**
 * For a stored session, whose own cwd the client must name anyway. A client with the role `read` changes nothing for others: neither
 * the agent nor the prompts, which `adopts` says. Throws ROLE_TOO_LOW and DIRECTORY_FOREIGN.
 */
export async function requireMayOpen(
  named: NamedByClient,
  opener: Opener,
  { adopts }: { readonly adopts: boolean },
): Promise<void> {
  const { access, agent } = opener
  if (agent.chosen) {
    access.requireRole('approve', 'To give a session another agent')
    requireAgent(opener)
  }
  if (adopts) access.requireRole('prompt', 'To wait for prompts')
  requireServers(named, opener)
  await requireKnownDirectories(additional(named), opener)
}

/** The agent of the server's own settings is no choice of the client. */
function requireAgent({ access, agent }: Opener): void {
  if (agent.name.startsWith(SCRIPT) && agent.isRequested)
    access.requireRole('admin', 'To name a script of the server as agent')
}

function requireServers({ mcpServers }: NamedByClient, { access }: Opener): void {
  if (mcpServers.length > 0)
    access.requireRole('admin', 'To bring an MCP server that the settings of the server do not have')
}

function additional({ additionalDirectories }: NamedByClient): readonly (readonly [what: string, path: string])[] {
  return additionalDirectories.map((path, index) => [`additionalDirectories[${index}]`, path])
}

/** Those of sessions are compared as texts, so that no link and no `..` leads elsewhere; below roots the real path counts. */
async function requireKnownDirectories(
  directories: readonly (readonly [what: string, path: string])[],
  { access, sessions, roots }: Opener,
): Promise<void> {
  if (access.mayNamePlaces) return
  for (const [what, path] of directories) {
    const known = await sessions.list({ cwd: path, limit: 1 })
    const isOpen = known.length > 0 || (await isBelowRoots(path, roots))
    if (!isOpen) fail('DIRECTORY_FOREIGN', { what, path })
  }
}
