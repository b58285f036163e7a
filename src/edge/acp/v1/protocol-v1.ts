/** ACP v1 as the connection sees it: `initialize` and authentication at once, everything about sessions once that is loaded. */
import { notificationMessage } from '../../../rpc/json-rpc.ts'
import { withinScope } from '../../scoped-sessions.ts'
import { sessionFilesOf } from '../../places/open-session-files.ts'
import { SeenMarks } from '../../seen-marks.ts'
import type { ConnectionContext, OwnMethods, ProtocolVersion, VersionConnection } from '../version.ts'
import { type ClientCapabilities, parseClientCapabilities } from './initialize/client-capabilities.ts'
import { terminalLogins } from './initialize/agent-logins.ts'
import { initializeResult } from './initialize/initialize.ts'
import { type RequestedAgent, parseClientVariables, parseRequestedAgent } from './initialize/requested-agent.ts'
import { TokenAuth } from './initialize/token-auth.ts'
import type { V1Methods } from './methods/methods.ts'

export const protocolV1: ProtocolVersion = {
  number: 1,
  load: loadModules,
  open: (connection) => new V1Connection(connection),
}

async function loadModules() {
  const [{ V1Methods: Methods }, { ClientPeers }] = await Promise.all([
    import('./methods/methods.ts'),
    import('./client-peer/client-peer.ts'),
  ])
  return { Methods, ClientPeers }
}

/** A prompt is not among them: it is withdrawn, or its turn is cancelled. */
const CANCELLABLE: ReadonlySet<string> = new Set(['session/new', 'session/load', 'session/resume', 'session/fork'])

class V1Connection implements VersionConnection {
  readonly ownMethods: OwnMethods
  readonly cancellable = CANCELLABLE
  methods: Promise<V1Methods> | undefined
  readonly #connection: ConnectionContext
  readonly #auth: TokenAuth
  #capabilities: ClientCapabilities | undefined

  constructor(connection: ConnectionContext) {
    this.#connection = connection
    this.#auth = new TokenAuth(connection.server.token, connection.access)
    this.ownMethods = {
      authenticate: (params) => this.#authenticate(params),
      logout: () => this.#logOut(),
    }
  }

  initialize(params: unknown): object {
    const { access, server } = this.#connection
    const { info, agents, agent = { name: agents.default, chosen: false }, methods = {}, experimental = false } = server
    const variables = access.mayLendVariables ? parseClientVariables(params) : undefined
    const requested = { ...parseRequestedAgent(params, agent), ...(variables && { variables }) }
    // The terminal of a remote client is on another machine than the agent.
    const logins = access.isLocalUser ? (agents.logins?.(requested.name) ?? []) : []
    this.#auth.agentLogins = new Set(logins.map(({ id }) => id))
    const result = initializeResult(params, {
      info,
      accepts: agents.accepts(requested.name, variables),
      methods: Object.keys(methods).filter((method) => access.canReach(method)),
      role: access.role,
      experimental,
      authMethods: this.#auth.methods,
      logins: terminalLogins(params, logins),
    })
    this.#auth.initialized(params)
    const capabilities = parseClientCapabilities(params)
    this.#capabilities = capabilities
    this.methods ??= this.#open(requested, capabilities)
    // A request for a session is answered with the failure; here no request waits yet.
    this.methods.catch(() => undefined)
    return result
  }

  stopping(): void {
    if (this.#capabilities?.wantsServerNotification === true)
      this.#connection.transport.send([notificationMessage('_parley/server', { state: 'stopping' })])
  }

  async #open(agent: RequestedAgent, capabilities: ClientCapabilities): Promise<V1Methods> {
    const { transport, pending: requests, access, server } = this.#connection
    // A client that may not prompt has no turn of its own that could use its files, terminals and forms.
    const services = access.hasRole('prompt') ? capabilities.services : undefined
    const { Methods, ClientPeers } = await loadModules()
    const client = {
      transport,
      requests,
      capabilities,
      peers: services && new ClientPeers({ transport, requests, services }),
      mayAnswer: access.hasRole('approve'),
      author: server.principal.name ?? capabilities.info.name,
      report: (error: unknown) => server.report(error),
    }
    const { agents, clock, experimental = false } = server
    const sessions = withinScope(await server.sessions, access.scope)
    const { seen = new SeenMarks({}, { now: () => clock.now(), save: async () => undefined }) } = server
    const { roots = [], mcpServersOf = async () => [] } = server
    const files = () => sessionFilesOf(server.sessions, clock)
    const opening = { sessions, client, agents, agent, access, roots, mcpServersOf }
    return new Methods({ ...opening, experimental, seen, files, clock, watchAgents: server.watchAgents })
  }

  async #authenticate(params: unknown): Promise<object> {
    this.#auth.authenticate(params)
    const methods = await this.methods?.catch(() => undefined)
    methods?.authenticated()
    return {}
  }

  async #logOut(): Promise<object> {
    this.#auth.logOut()
    const methods = await this.methods?.catch(() => undefined)
    await methods?.logOut()
    return {}
  }
}
