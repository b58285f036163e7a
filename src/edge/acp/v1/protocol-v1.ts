/** ACP v1 as the connection sees it: `initialize` and authentication at once, everything about sessions once that is loaded. */
import { type Response, notificationMessage } from '../../../rpc/json-rpc.ts'
import type { ConnectionContext, OwnMethods, ProtocolVersion, VersionConnection } from '../version.ts'
import { type NoticeName, wantedNotices } from './attachment/notices.ts'
import { parseClientCapabilities } from './initialize/client-capabilities.ts'
import { parseClientInfo } from './initialize/client-info.ts'
import { parseClientServices } from './initialize/client-services.ts'
import { initializeResult } from './initialize/initialize.ts'
import { type RequestedAgent, lentVariables, parseRequestedAgent } from './initialize/requested-agent.ts'
import { TokenAuth } from './initialize/token-auth.ts'
import type { V1Methods } from './methods/methods.ts'

export const protocolV1: ProtocolVersion = {
  number: 1,
  load: loadModules,
  open: (connection) => new V1Connection(connection),
}

async function loadModules() {
  const [{ V1Methods: Methods }, { ClientPeerRequests }, { parseOutcome }] = await Promise.all([
    import('./methods/methods.ts'),
    import('./client-peer/client-peer.ts'),
    import('./methods/params.ts'),
  ])
  return { Methods, ClientPeerRequests, parseOutcome }
}

const NO_ANSWER = { kind: 'no answer' } as const

class V1Connection implements VersionConnection {
  readonly ownMethods: OwnMethods
  methods: Promise<V1Methods> | undefined
  readonly #connection: ConnectionContext
  readonly #auth: TokenAuth
  #wanted: ReadonlySet<NoticeName> = new Set()

  constructor(connection: ConnectionContext) {
    this.#connection = connection
    this.#auth = new TokenAuth(connection.server.token, connection.access)
    this.ownMethods = {
      authenticate: (params) => (this.#auth.authenticate(params), {}),
      logout: () => this.#logOut(),
    }
  }

  initialize(params: unknown): object {
    const { access, server } = this.#connection
    const { info, agents, agent = { name: agents.default, chosen: false }, methods = {}, unstable = false } = server
    const lent = access.mayLendKeys ? lentVariables(params) : undefined
    const requested = { ...parseRequestedAgent(params, agent), ...(lent && { lent }) }
    const result = initializeResult(params, {
      info,
      accepts: agents.accepts(requested.name, lent),
      methods: Object.keys(methods).filter((method) => access.canReach(method)),
      unstable,
      authMethods: this.#auth.methods,
    })
    this.#auth.initialized(params)
    this.#wanted = wantedNotices(params)
    this.methods ??= this.#open(requested, params)
    // A request for a session is answered with the failure; here no request waits yet.
    this.methods.catch(() => undefined)
    return result
  }

  stopping(): void {
    if (this.#wanted.has('server'))
      this.#connection.transport.send([notificationMessage('_parley/server', { state: 'stopping' })])
  }

  async #open(agent: RequestedAgent, params: unknown): Promise<V1Methods> {
    const { transport: wire, pending: outbox, access, server } = this.#connection
    const wanted = this.#wanted
    const { Methods, ClientPeerRequests, parseOutcome } = await loadModules()
    const client = {
      wire,
      outbox,
      info: parseClientInfo(params),
      wanted,
      dialect: parseClientCapabilities(params),
      lending: new ClientPeerRequests({ wire, outbox, offers: parseClientServices(params) }),
      answerOf: ({ result, error }: Response) => (error === undefined ? parseOutcome(result) : NO_ANSWER),
      report: (error: unknown) => server.report(error),
    }
    const { agents, clock, unstable = false } = server
    const sessions = await server.sessions
    return new Methods({ sessions, client, agents, agent, unstable, access, newId: () => clock.id() })
  }

  async #logOut(): Promise<object> {
    this.#auth.logOut()
    const methods = await this.methods?.catch(() => undefined)
    methods?.logOut()
    return {}
  }
}
