/**
 * One client's connection from its first message to its last. Its requests run in order per session, in the version of ACP
 * that it negotiated.
 */
import { unlessAborted } from '../../async/abort.ts'
import { reaches } from '../../credentials/scope.ts'
import { ParleyError, fail, isParleyError } from '../../errors/parley-error.ts'
import {
  type Message,
  type Notification,
  type Request,
  type RequestId,
  type Unreadable,
  parseMessage,
  refuseCostly,
  errorMessage,
  fieldsOf,
  resultMessage,
  PendingRequests,
} from '../../rpc/json-rpc.ts'
import { Access } from '../method-access.ts'
import type { Received, Transport } from '../transport/transport.ts'
import type { ServerContext, VersionConnection } from './version.ts'
import { type ProtocolVersions, chooseVersion } from './versions.ts'
import { SerialQueues } from '../../async/serial.ts'

/** Serves until the client closes its side. A test passes versions of its own. */
export async function serveConnection(
  transport: Transport,
  server: ServerContext,
  versions?: ProtocolVersions,
): Promise<void> {
  const connection = new Connection(transport, server, versions)
  try {
    for await (const messages of transport.messages) {
      for (const message of messages) {
        connection.receive(message)
        await connection.untilRoom()
      }
    }
    await Promise.race([connection.settled(), server.untilReplyTimeout()])
    await server.gone?.()
  } finally {
    await connection.end()
  }
}

/** A request that is being handled. */
interface Handling {
  readonly session: string | undefined
  readonly cancelled: AbortController
}

class Connection {
  readonly #transport: Transport
  readonly #server: ServerContext
  readonly #versions: ProtocolVersions | undefined
  readonly #access: Access
  readonly #pending: PendingRequests
  readonly #scheduler: RequestScheduler
  readonly #handling = new Map<RequestId, Handling>()
  /** The version that the first `initialize` negotiated. */
  #version: VersionConnection | undefined

  constructor(transport: Transport, server: ServerContext, versions: ProtocolVersions | undefined) {
    this.#transport = transport
    this.#server = server
    this.#versions = versions
    this.#access = new Access(
      server.principal,
      server.token === undefined ? 'not demanded' : 'missing',
      server.draining,
    )
    // A response meant for an earlier server is never taken for one of ours.
    this.#pending = new PendingRequests(`${server.clock.id().slice(0, 8)}-`)
    this.#scheduler = new RequestScheduler((error) => server.report(error))
    server.stopping?.addEventListener('abort', this.#onStopping, { once: true })
  }

  receive(received: Received): void {
    if (typeof received !== 'string') return this.#fail(received.id, received.error)
    const message = refuseCostly(received) ?? parseMessage(received)
    if (message.kind === 'unreadable') return this.#fail(message.id, refusalOf(message))
    const work = this.#handle(message)
    if (work !== undefined) this.#scheduler.weigh(received.length, work)
  }

  /** Resolves when the next message may be handled. */
  untilRoom(): Promise<void> {
    return this.#scheduler.untilRoom()
  }

  /** Resolves when every request is answered, except for prompts that run. */
  settled(): Promise<void> {
    return this.#scheduler.settled()
  }

  async end(): Promise<void> {
    // The server lives longer, and its signal would keep this connection and all its sessions in memory.
    this.#server.stopping?.removeEventListener('abort', this.#onStopping)
    // A session that is still being opened must not be attached to a client that is gone.
    for (const { cancelled } of this.#handling.values()) cancelled.abort()
    const methods = await this.#version?.methods?.catch(() => undefined)
    methods?.detach()
  }

  /** Returns the work that the message still needs, if any. */
  #handle(message: Message): Promise<void> | undefined {
    if (message.kind !== 'response') this.#server.activity?.began(describe(message))
    switch (message.kind) {
      case 'response':
        this.#pending.take(message.id)?.(message)
        return undefined
      case 'notification':
        return this.#scheduler.inOrder(this.#sessionOfNotification(message), () => this.#notified(message))
      case 'request':
        if (message.method !== 'initialize') return this.#requested(message)
        this.#initialize(message)
        return undefined
    }
  }

  readonly #onStopping = (): void => {
    this.#version?.stopping()
  }

  #requested(request: Request): Promise<void> {
    const { id, params } = request
    const handling = { session: sessionOf(params), cancelled: new AbortController() }
    this.#handling.set(id, handling)
    return this.#scheduler.inOrder(handling.session, async () => {
      try {
        await this.#answer(request, handling.cancelled.signal)
      } catch (error) {
        this.#fail(id, error)
      }
      this.#handling.delete(id)
    })
  }

  /** `$/cancel_request` names no session: it is handled after its request, but a request that takes long is aborted at once. */
  #sessionOfNotification({ method, params }: Notification): string | undefined {
    if (method !== '$/cancel_request') return sessionOf(params)
    const handling = this.#handling.get(requestIdOf(params))
    handling?.cancelled.abort()
    return handling?.session
  }

  #initialize({ id, params }: Request): void {
    try {
      this.#version ??= chooseVersion(params, this.#versions).open({
        transport: this.#transport,
        pending: this.#pending,
        access: this.#access,
        server: this.#server,
      })
      this.#transport.send([resultMessage(id, this.#version.initialize(params))])
      this.#transport.initialized?.()
      this.#server.initialized?.()
    } catch (error) {
      this.#fail(id, error)
    }
  }

  async #answer({ id, method, params }: Request, signal: AbortSignal): Promise<void> {
    const version = this.#version
    if (version?.methods === undefined) return fail('NOT_INITIALIZED', { method })
    this.#access.admit(method)
    await this.#requireWithinScope(params)
    const own = [version.ownMethods, this.#server.methods ?? {}].find((methods) => Object.hasOwn(methods, method))
    if (own !== undefined) return this.#transport.send([resultMessage(id, await own[method]?.(params))])
    const methods = await (version.cancellable.has(method)
      ? unlessAborted(version.methods, signal, () => new ParleyError('REQUEST_CANCELLED', { method }))
      : version.methods)
    const answer = await (methods.request(method, params, { id, signal }) ?? fail('METHOD_UNKNOWN', { method }))
    if (answer === 'answered later') return
    this.#transport.send([resultMessage(id, answer.result)])
    await answer.afterwards?.()
  }

  /** Methods of the server itself see all sessions. Throws SESSION_NOT_FOUND. */
  async #requireWithinScope(params: unknown): Promise<void> {
    const session = sessionOf(params)
    if (this.#access.scope === 'all' || session === undefined) return
    const found = await (await this.#server.sessions).find(session)
    if (found === undefined || !reaches(this.#access.scope, found)) fail('SESSION_NOT_FOUND', { session })
  }

  /** A notification is never answered, not even one that is invalid or unknown. */
  async #notified({ method, params }: Notification): Promise<void> {
    const methods = await this.#version?.methods
    try {
      this.#access.require(method)
      if (method === '$/cancel_request') await methods?.cancelRequest(requestIdOf(params))
      else await methods?.notified(method, params)
    } catch (error) {
      this.#known(error)
    }
  }

  #fail(id: RequestId, error: unknown): void {
    this.#transport.send([errorMessage(id, this.#known(error))])
  }

  /** The error that the client may see; the log gets the others. */
  #known(error: unknown): ParleyError {
    if (isParleyError(error)) return error
    this.#server.report(error)
    return new ParleyError('INTERNAL_ERROR', {}, error)
  }
}

/** The error that answers a text which is no message. */
export function refusalOf({ problem, reason }: Unreadable): ParleyError {
  switch (problem) {
    case 'malformed':
      return new ParleyError('MESSAGE_MALFORMED', { reason })
    case 'invalid':
      return new ParleyError('MESSAGE_INVALID', { reason })
    case 'too_large':
      return new ParleyError('MESSAGE_TOO_LARGE', { reason })
  }
}

/** For the log of the watchdog: which request of which session blocks the main thread. */
function describe({ method, params }: Request | Notification): string {
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

/** Past these, nothing more is read from the client until some of its requests are done: a disk may hang. */
const MAX_UNFINISHED = { messages: 256, chars: 64 * 1024 * 1024 }

/** The requests of one client that are being handled: in order per session, and only as many at once as memory allows. */
export class RequestScheduler {
  readonly #report: (error: unknown) => void
  /** By session. */
  readonly #queues = new SerialQueues<string>()
  /** Requests and notifications that are being handled. */
  readonly #open = new Set<Promise<void>>()
  /** The length of all of these. */
  #chars = 0
  #waitingForRoom: (() => void)[] = []

  constructor(report: (error: unknown) => void) {
    this.#report = report
  }

  /** Begins when everything scheduled before under the same key is done; without a key, soon. */
  inOrder(key: string | undefined, work: () => Promise<void>): Promise<void> {
    const done = key === undefined ? Promise.resolve().then(work) : this.#queues.run(key, work)
    const settled = done.catch((error: unknown) => this.#report(error))
    this.#open.add(settled)
    void settled.then(() => {
      this.#open.delete(settled)
      this.#wake()
    })
    return settled
  }

  /** Counts the characters of a message as held in memory until `work` is done. */
  weigh(chars: number, work: Promise<void>): void {
    this.#chars += chars
    void work.then(() => {
      this.#chars -= chars
      this.#wake()
    })
  }

  /** Resolves when more may be scheduled. No request that is being handled waits for another message of the same client. */
  async untilRoom(): Promise<void> {
    while (this.#isFull()) await new Promise<void>((resolve) => this.#waitingForRoom.push(resolve))
  }

  async settled(): Promise<void> {
    while (this.#open.size > 0) await Promise.all(this.#open)
  }

  #isFull(): boolean {
    return this.#open.size > MAX_UNFINISHED.messages || this.#chars > MAX_UNFINISHED.chars
  }

  #wake(): void {
    if (this.#isFull()) return
    for (const resolve of this.#waitingForRoom.splice(0)) resolve()
  }
}
