/** One client's connection from its first line to its last: requests in, answers and updates out, in order per session. */
import { ParleyError, fail, isParleyError } from '../../errors/parley-error.ts'
import type { Activity } from '../../ports/activity.ts'
import type { Agents } from '../../ports/agent.ts'
import type { Signal } from '../../ports/signal.ts'
import type { SessionRegistry } from '../../session/registry.ts'
import { Access, type Principal } from '../access.ts'
import {
  type Message,
  type Notification,
  type Request,
  type RequestId,
  type Response,
  errorMessage,
  fieldsOf,
  notificationMessage,
  resultMessage,
} from '../../rpc/json-rpc.ts'
import { PendingRequests } from '../../rpc/pending-requests.ts'
import type { Received, Transport } from '../transport/transport.ts'
import { RequestScheduler } from './request-scheduler.ts'
import { type RequestedAgent, lentVariables, parseRequestedAgent } from './v1/initialize/requested-agent.ts'
import type { SubscribedClient } from '../../session/subscribers/subscribers.ts'
import type { ClientCapabilities } from './v1/initialize/client-capabilities.ts'
import { parseClientCapabilities } from './v1/initialize/client-capabilities.ts'
import { TokenAuth } from './v1/initialize/token-auth.ts'
import { type ClientServices, parseClientServices } from './v1/initialize/client-services.ts'
import { type ServerInfo, initializeResult } from './v1/initialize/initialize.ts'
import { parseClientInfo } from './v1/initialize/client-info.ts'
import type { V1Methods } from './v1/methods/methods.ts'
import { type NoticeName, wantedNotices } from './v1/attachment/notices.ts'

export interface ConnectionHost {
  /** Resolves when the owner has its journal and has recovered; rejects when it cannot. */
  readonly sessions: Promise<SessionRegistry>
  readonly info: ServerInfo
  readonly agents: Agents
  /** What a client that names no agent gets; absent: the default. */
  readonly agent?: RequestedAgent
  /** What a client must give before it hears of any session; absent: nothing. */
  readonly token?: string | undefined
  /** What ACP itself has not settled yet is offered too. */
  readonly unstable?: boolean
  /** Who can be at the other end of this connection. */
  readonly principal: Principal
  /** What can be asked of the server itself, by its name beyond ACP (`_parley/…`); advertised in `initialize`. */
  readonly methods?: Readonly<Record<string, (params: unknown) => Promise<unknown>>>
  /** Throws what is answered to a request of this method that comes at the wrong time. */
  admit?(method: string): void
  /** Absent: nothing watches. */
  readonly activity?: Activity
  /** Aborts when the server is about to end the connection: whoever asked for that hears of it. */
  readonly stopping?: Signal
  newId(): string
  report(error: unknown): void
  /** Resolves when what is under way should no longer be waited for. */
  patience(): Promise<void>
  /** What the end of this client ends with it; it still hears of that if it reads. */
  gone?(): Promise<void>
}

/** What a client can show, and what it can do for its agent. */
interface Abilities {
  readonly dialect: ClientCapabilities
  readonly offers: ClientServices
}

interface Taking {
  readonly session: string | undefined
  readonly cancelled: AbortController
}

/** Serves until the client closes its side. */
export async function serveConnection(wire: Transport, host: ConnectionHost): Promise<void> {
  const connection = new Connection(wire, host)
  try {
    for await (const messages of wire.messages) {
      for (const message of messages) {
        connection.receive(message)
        await connection.room()
      }
    }
    await Promise.race([connection.settled(), host.patience()])
    await host.gone?.()
  } finally {
    await connection.end()
  }
}

/**
 * What a connection is served with, past its first words. A server loads it before anyone can come in: a module that failed to
 * load once, for want of descriptors for example, stays so for as long as the process lives.
 */
export async function loadConnections() {
  const methods = import('./v1/methods/methods.ts')
  const lending = import('./v1/client-peer/client-peer.ts')
  const params = import('./v1/methods/params.ts')
  const [{ V1Methods: Methods }, { ClientPeerRequests }, { parseOutcome }] = await Promise.all([
    methods,
    lending,
    params,
  ])
  return { Methods, ClientPeerRequests, parseOutcome }
}

const NO_ANSWER = { kind: 'no answer' } as const

class Connection {
  readonly #wire: Transport
  readonly #host: ConnectionHost
  readonly #outbox: PendingRequests
  #initialized = false
  #wanted: ReadonlySet<NoticeName> = new Set()
  #methods: Promise<V1Methods> | undefined
  /** Requests that are still being taken. */
  readonly #taking = new Map<RequestId, Taking>()
  readonly #access: Access
  readonly #auth: TokenAuth
  readonly #work: RequestScheduler

  constructor(wire: Transport, host: ConnectionHost) {
    this.#wire = wire
    this.#host = host
    this.#outbox = new PendingRequests(`${host.newId().slice(0, 8)}-`)
    this.#access = new Access(host.principal, host.token === undefined ? 'not demanded' : 'missing')
    this.#auth = new TokenAuth(host.token, this.#access)
    this.#work = new RequestScheduler((error) => host.report(error))
    host.stopping?.addEventListener('abort', this.#tellStopping, { once: true })
  }

  receive(received: Received): void {
    if (received.kind === 'refused') return this.#fail(received.id, received.error)
    const work = this.#handle(received.message)
    if (work !== undefined) this.#work.weigh(received.chars, work)
  }

  /** Resolves when more may be asked. */
  room(): Promise<void> {
    return this.#work.room()
  }

  /** Every request that came is answered, but for prompts that run. */
  settled(): Promise<void> {
    return this.#work.settled()
  }

  async end(): Promise<void> {
    // The server lives longer: what it still held would stay in memory with all that this client ever opened.
    this.#host.stopping?.removeEventListener('abort', this.#tellStopping)
    // A session that is still being opened for it must not have it attached afterwards.
    for (const { cancelled } of this.#taking.values()) cancelled.abort()
    const methods = await this.#methods?.catch(() => undefined)
    methods?.detach()
  }

  /** What is still to be done about it, if anything is. */
  #handle(message: Message): Promise<void> | undefined {
    if (message.kind !== 'response') this.#host.activity?.began(wordsFor(message))
    switch (message.kind) {
      case 'response':
        this.#outbox.take(message.id)?.(message)
        return undefined
      case 'notification':
        return this.#work.inOrder(this.#concerns(message), () => this.#notified(message))
      case 'request':
        return this.#requested(message)
    }
  }

  readonly #tellStopping = (): void => {
    if (this.#wanted.has('server')) this.#wire.send([notificationMessage('_parley/server', { state: 'stopping' })])
  }

  #requested(request: Request): Promise<void> | undefined {
    if (request.method === 'initialize') {
      this.#initialize(request)
      return undefined
    }
    const { id, params } = request
    const taking = { session: sessionOf(params), cancelled: new AbortController() }
    this.#taking.set(id, taking)
    return this.#work.inOrder(taking.session, async () => {
      try {
        await this.#answer(request, taking.cancelled.signal)
      } catch (error) {
        this.#fail(id, error)
      }
      this.#taking.delete(id)
    })
  }

  /** A cancel of a request comes after that request, though it does not name its session; one that takes long hears it at once. */
  #concerns({ method, params }: Notification): string | undefined {
    if (method !== '$/cancel_request') return sessionOf(params)
    const taking = this.#taking.get(requestIdOf(params))
    taking?.cancelled.abort()
    return taking?.session
  }

  /** Answered before anything heavy is loaded: an editor sees the agent at once. */
  #initialize({ id, params }: Request): void {
    try {
      const { info, agents, agent = { name: agents.default, chosen: false }, methods = {} } = this.#host
      const { unstable = false } = this.#host
      const lent = this.#access.mayLendKeys ? lentVariables(params) : undefined
      const wish = { ...parseRequestedAgent(params, agent), ...(lent && { lent }) }
      const own = Object.keys(methods).filter((method) => this.#access.canReach(method))
      const offer = { info, accepts: agents.accepts(wish.name, lent), methods: own, unstable }
      this.#wire.send([resultMessage(id, initializeResult(params, { ...offer, authMethods: this.#auth.methods }))])
      this.#auth.initialized(params)
      this.#initialized = true
      this.#wanted = wantedNotices(params)
      const abilities = { dialect: parseClientCapabilities(params), offers: parseClientServices(params) }
      this.#methods ??= this.#load(wish, parseClientInfo(params), abilities)
      // Whoever asks for a session hears of a failure; here nobody waits yet.
      this.#methods.catch(() => undefined)
    } catch (error) {
      this.#fail(id, error)
    }
  }

  async #load(agent: RequestedAgent, info: SubscribedClient, { dialect, offers }: Abilities): Promise<V1Methods> {
    const { Methods, ClientPeerRequests, parseOutcome } = await loadConnections()
    const client = {
      wire: this.#wire,
      outbox: this.#outbox,
      info,
      wanted: this.#wanted,
      dialect,
      lending: new ClientPeerRequests({ wire: this.#wire, outbox: this.#outbox, offers }),
      answerOf: ({ result, error }: Response) => (error === undefined ? parseOutcome(result) : NO_ANSWER),
      report: (error: unknown) => this.#host.report(error),
    }
    const { agents, unstable = false } = this.#host
    const sessions = await this.#host.sessions
    const access = this.#access
    return new Methods({ sessions, client, agents, agent, unstable, access, newId: () => this.#host.newId() })
  }

  async #answer({ id, method, params }: Request, signal: AbortSignal): Promise<void> {
    if (this.#methods === undefined || !this.#initialized) return fail('NOT_INITIALIZED', { method })
    this.#access.require(method)
    this.#host.admit?.(method)
    const own = this.#ownMethod(method)
    if (own !== undefined) return this.#wire.send([resultMessage(id, await own(params))])
    const methods = await Promise.race([this.#methods, cancelled(method, signal)])
    const answer = await (methods.request(method, params, { id, signal }) ?? fail('METHOD_UNKNOWN', { method }))
    if (answer === 'answered later') return
    this.#wire.send([resultMessage(id, answer.result)])
    await answer.afterwards?.()
  }

  /** What needs no session. */
  #ownMethod(method: string): ((params: unknown) => unknown) | undefined {
    switch (method) {
      case 'authenticate':
        return (params) => (this.#auth.authenticate(params), {})
      case 'logout':
        return () => this.#logOut()
      default: {
        const { methods = {} } = this.#host
        return Object.hasOwn(methods, method) ? methods[method] : undefined
      }
    }
  }

  async #logOut(): Promise<object> {
    this.#auth.logOut()
    const methods = await this.#methods?.catch(() => undefined)
    methods?.logOut()
    return {}
  }

  /** Bad and unknown notifications are never answered. */
  async #notified({ method, params }: Notification): Promise<void> {
    const methods = await this.#methods
    try {
      this.#access.require(method)
      if (method === 'session/cancel') await methods?.cancel(params)
      if (method === '$/cancel_request') await methods?.cancelRequest(requestIdOf(params))
    } catch (error) {
      this.#told(error)
    }
  }

  #fail(id: RequestId, error: unknown): void {
    this.#wire.send([errorMessage(id, this.#told(error))])
  }

  /** What the client may know of a failure; the log gets the rest. */
  #told(error: unknown): ParleyError {
    if (isParleyError(error)) return error
    this.#host.report(error)
    return new ParleyError('INTERNAL_ERROR', {}, error)
  }
}

/** Those that may take long; a prompt has an end of its own. */
const CANCELLABLE: ReadonlySet<string> = new Set(['session/new', 'session/load', 'session/resume', 'session/fork'])

/** Rejects when nobody waits for the answer any more. */
function cancelled(method: string, signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const over = (): void => reject(new ParleyError('REQUEST_CANCELLED', { method }))
    if (!CANCELLABLE.has(method)) return
    if (signal.aborted) over()
    else signal.addEventListener('abort', over, { once: true })
  })
}

/** For the log of a main thread that does not move: which request of which session. */
function wordsFor({ method, params }: Request | Notification): string {
  const session = sessionOf(params)
  return session === undefined ? method.slice(0, 60) : `${method.slice(0, 60)} of session ${session.slice(0, 60)}`
}

/** The session that a message concerns, if it names one. */
function sessionOf(params: unknown): string | undefined {
  const { sessionId } = fieldsOf(params)
  return typeof sessionId === 'string' ? sessionId : undefined
}

/** The request that a notification is about. */
function requestIdOf(params: unknown): RequestId {
  const { requestId } = fieldsOf(params)
  return typeof requestId === 'string' || typeof requestId === 'number' ? requestId : null
}
