/**
 * What the relay knows of the exchange between its client and its server, and what it does when the server is lost: which requests
 * are repeated, which sessions are resumed and from which cursor, and which requests fail. `relay.ts` passes every line through
 * `fromClient` and `fromServer`, calls `lose` when the connection breaks and `restore` when there is a new one, and sends the lines
 * that they return. No I/O here. Open requests and open sessions are in the two files beside this one.
 */
import { ParleyError } from '../../errors/parley-error.ts'
import { decodeUtf8 } from '../../rpc/framing.ts'
import {
  type Message,
  type Notification,
  type Request,
  type Response,
  errorMessage,
  fieldsOf,
  notificationMessage,
  parseMessage,
  requestMessage,
  resultMessage,
  PendingRequests,
  type Fields,
} from '../../rpc/json-rpc.ts'
import { type Handshake, HandshakeResult, type KnownOffers, withHandshake } from '../handshake.ts'
import { type ConnectionEnding, ServerUpgrade } from '../server-upgrade.ts'
import {
  ClientRequests,
  type OpenCall,
  type OpenPrompt,
  RELAY_ID_PREFIX,
  ServerRequests,
  adoptedPrompts,
  withPromptId,
} from './open-requests.ts'
import { OpenSessions, repeatedOpening, resumeParams, scanUpdateCursor } from './open-sessions.ts'

export interface RelayStateOptions {
  readonly handshake: Handshake
  readonly offers: KnownOffers
  newId(): string
  /** Sends lines to the present server, besides what the methods return. */
  toServer(lines: Buffer): void
  /** Sends lines to the client, besides what the methods return. */
  toClient(lines: Buffer): void
  /** Shows a sentence to the user; the client does not receive it. */
  say(sentence: string): void
}

const NOTHING = Buffer.alloc(0)

/** The database of a cluster, or the node that has the session, is away for the moment. */
const AWAY: ReadonlySet<unknown> = new Set(['CLUSTER_UNREACHABLE', 'NODE_SILENT', 'SESSION_ELSEWHERE'])
const CANCELS: ReadonlySet<string> = new Set(['session/cancel', '$/cancel_request'])

export class RelayState {
  readonly #options: RelayStateOptions
  readonly #requests = new ClientRequests()
  readonly #serverRequests = new ServerRequests()
  readonly #sessions = new OpenSessions()
  /** The relay's own requests to the server. The client never sees the responses; it gets what each function returns. */
  readonly #own = new PendingRequests<(response: Response) => Buffer>(RELAY_ID_PREFIX)
  /** Sessions that the present server was asked to resume and has not answered. A server that refuses handles no prompt of them. */
  readonly #resuming = new Set<string>()
  /** Requests of the client that were sent to a new server again. */
  readonly #repeated = new Set<unknown>()
  readonly #handshake = new HandshakeResult()
  readonly #upgrade: ServerUpgrade
  #isRefused = false

  constructor(options: RelayStateOptions) {
    this.#options = options
    this.#upgrade = new ServerUpgrade(options.handshake.version)
  }

  /** A session could not be resumed for the moment: another connection has to be made, over which it is asked for again. */
  get isRefused(): boolean {
    return this.#isRefused
  }

  /** How the connection to the server ends if it ends now. */
  get ending(): ConnectionEnding {
    return this.#upgrade.ending
  }

  /** Nothing may be sent to the server: it is older, and has been asked to stop; or too much waits for it already. */
  get isHeldUp(): boolean {
    return this.#upgrade.isPending || this.#requests.holdsMuch
  }

  /** The client waits for a response that should not take long. */
  get awaitsResponse(): boolean {
    return this.#requests.calls().length > 0
  }

  /** Everything that was lost with the former server is restored. */
  get isRestored(): boolean {
    return this.#own.isEmpty && this.#repeated.size === 0
  }

  /** Whether the line is a first `initialize` that any server of this version and configuration answers alike. */
  mayBeOffered(line: Buffer): boolean {
    return this.#firstInitialize(line) !== undefined
  }

  /** Answers a first `initialize` as such a server would; the next server gets the request with everything else that is restored. */
  offer(line: Buffer, result: Fields): Buffer {
    const request = this.#firstInitialize(line)
    if (request === undefined) return NOTHING
    this.#handshake.initialized(withHandshake(fieldsOf(request.params), this.#options.handshake))
    return messageLine(resultMessage(request.id, result))
  }

  #firstInitialize(line: Buffer): Request | undefined {
    if (this.#handshake.isInitialized || this.awaitsResponse) return undefined
    const message = parseLine(line)
    if (message?.kind !== 'request' || message.method !== 'initialize') return undefined
    const { protocolVersion, _meta } = fieldsOf(message.params)
    const isRead = Number.isInteger(protocolVersion) && Number(protocolVersion) >= 0
    // A client may name another agent than the one that the offer is for.
    return isRead && fieldsOf(_meta)['parley/agent'] === undefined ? message : undefined
  }

  /** Takes a line of the client; returns the lines to send to the server. */
  fromClient(line: Buffer): Buffer {
    const message = parseLine(line)
    switch (message?.kind) {
      case undefined:
        // The server refuses it.
        return line
      case 'response':
        return this.#clientResponded(message, line)
      case 'notification':
        if (CANCELS.has(message.method)) this.#requests.noteCancel(message.method, fieldsOf(message.params))
        return line
      case 'request':
        return this.#clientRequested(message, line)
    }
  }

  /** Takes a line of the server; returns the lines to send to the client, which is mostly the same line. */
  fromServer(line: Buffer): Buffer {
    const cursor = scanUpdateCursor(line)
    if (cursor !== undefined) {
      this.#sessions.seen(cursor)
      return line
    }
    const message = parseLine(line)
    switch (message?.kind) {
      case undefined:
        return line
      case 'response':
        return this.#serverResponded(message, line)
      case 'notification':
        return this.#serverNotified(message, line)
      case 'request':
        this.#serverRequests.add(message)
        return line
    }
  }

  /**
   * The server is gone. Returns the lines for the client: requests of the server are withdrawn, and requests that must not be
   * repeated have failed.
   */
  lose(): Buffer {
    const withdrawn = this.#serverRequests.lose().map(messageLine)
    this.#own.takeAll()
    this.#isRefused = false
    this.#resuming.clear()
    this.#repeated.clear()
    const isStopping = this.#upgrade.lose() === 'stopping'
    const lost = isStopping ? this.#requests.takeCalls() : this.#requests.takeUnrepeatable()
    const failed = lost.map((call) => {
      const { method } = call
      const error = isStopping
        ? new ParleyError('SERVER_STOPPING', {})
        : new ParleyError('SERVER_RESTARTED', { method })
      return this.#fail(call, error)
    })
    this.#sessions.lose()
    this.#requests.orphan()
    return Buffer.concat([...withdrawn, ...failed, this.#interrupt(({ sessionId }) => !this.#willBeOpen(sessionId))])
  }

  /** Returns the lines for a new server, so that everything continues where it was. */
  restore(): Buffer {
    const lines = this.#handshake
      .requests()
      .map(([method, params]) => this.#ask(method, params, (response) => this.#repeatedHandshake(method, response)))
    for (const [sessionId, session] of this.#sessions.open()) {
      const params = resumeParams(session, this.#requests.promptsOf(sessionId))
      this.#resuming.add(sessionId)
      lines.push(this.#ask('session/resume', params, (response) => this.#resumed(sessionId, response)))
    }
    for (const call of this.#requests.calls()) lines.push(this.#repeat(call))
    lines.push(this.#requests.takeHeld((sessionId) => !this.#resuming.has(sessionId)))
    return Buffer.concat(lines)
  }

  /** The client has closed its input: returns the lines that still waited to be sent. */
  leave(): Buffer {
    return this.#requests.takeHeld(() => true)
  }

  /** No server can be reached: returns the failure of every request that waits. */
  giveUp(error: ParleyError): Buffer {
    const failed = this.#requests.takeCalls().map((call) => this.#fail(call, error))
    return Buffer.concat([...failed, this.#interrupt(() => true)])
  }

  #repeatedHandshake(method: string, { error, result }: Response): Buffer {
    if (method === 'initialize' && error === undefined) void this.#options.offers.remember(fieldsOf(result))
    return NOTHING
  }

  #ask(method: string, params: Fields, answered: (response: Response) => Buffer): Buffer {
    return messageLine(requestMessage(this.#own.open(answered), method, params))
  }

  #clientResponded(response: Response, line: Buffer): Buffer {
    const { isAwaited, toClient } = this.#serverRequests.answered(response)
    if (toClient.length > 0) this.#options.toClient(Buffer.concat(toClient.map(messageLine)))
    return isAwaited ? line : NOTHING
  }

  #clientRequested(request: Request, line: Buffer): Buffer {
    const { id, method } = request
    const params = fieldsOf(request.params)
    if (method === 'initialize') return this.#initialize(request, withHandshake(params, this.#options.handshake))
    const prompt = method === 'session/prompt' ? withPromptId(request, () => this.#options.newId()) : undefined
    if (prompt !== undefined) {
      const { sessionId, promptId } = prompt
      const toServer = messageLine(requestMessage(id, method, prompt.params))
      const held = this.#resuming.has(sessionId) ? toServer : undefined
      this.#requests.add({ kind: 'prompt', id, sessionId, promptId, isCancelled: false, isOrphan: false, held })
      return held === undefined ? toServer : NOTHING
    }
    const adopts = isOpening(method) ? adoptedPrompts(params) : []
    this.#requests.add({ kind: 'call', id, method, params, line, adopts })
    for (const adopted of adopts) this.#requests.add(adopted)
    this.#sessions.requested({ method, params })
    return line
  }

  #initialize({ id, method }: Request, params: Fields): Buffer {
    const line = messageLine(requestMessage(id, method, params))
    this.#requests.add({ kind: 'call', id, method, params, line, adopts: [] })
    return line
  }

  #serverResponded(response: Response, line: Buffer): Buffer {
    const own = this.#own.take(response.id)
    if (own !== undefined) return own(response)
    const request = this.#requests.take(response.id)
    // The server answers a message that it could not read with a null id. To any other unknown id the relay has responded itself.
    if (request === undefined) return response.id === null ? line : NOTHING
    if (request.kind === 'prompt') {
      this.#sessions.promptEnded(request.sessionId, request.promptId)
      return line
    }
    const toClient = this.#callAnswered(request, response, line)
    return this.#repeated.delete(response.id) ? Buffer.concat([toClient, this.#interruptUnopened(request)]) : toClient
  }

  #callAnswered(call: OpenCall, response: Response, line: Buffer): Buffer {
    this.#sessions.answered(call, response)
    if (response.error !== undefined) {
      // The prompts that it was to take over are not answered on this connection.
      this.#requests.takePrompts((prompt) => call.adopts.includes(prompt))
      return line
    }
    if (call.method === 'initialize') return this.#initialized(call, response, line)
    if (call.method === 'authenticate') this.#handshake.authenticated(call.params)
    if (call.method === 'logout') this.#loggedOut()
    if (isOpening(call.method)) this.#repeatCancels(call.params['sessionId'])
    return line
  }

  #loggedOut(): void {
    this.#handshake.loggedOut()
    for (const [sessionId] of this.#sessions.open()) this.#sessions.forget(sessionId)
  }

  /** A session that was to be opened on the new server was not: no server will answer its prompts. */
  #interruptUnopened({ method, params: { sessionId } }: OpenCall): Buffer {
    if (!isOpening(method) || this.#sessions.get(sessionId)?.isOpen === true) return NOTHING
    return this.#interrupt((prompt) => prompt.isOrphan && prompt.sessionId === sessionId)
  }

  /** An older server is asked to stop, unless the client has begun to work with it, or turns of other clients run. */
  #initialized(call: OpenCall, { result }: Response, line: Buffer): Buffer {
    const isFirst = !this.#handshake.isInitialized && !this.awaitsResponse
    if (!isFirst || !this.#upgrade.isDue(fieldsOf(result))) {
      this.#handshake.initialized(call.params)
      if (isFirst) void this.#options.offers.remember(fieldsOf(result))
      return line
    }
    this.#requests.add(call)
    this.#upgrade.isPending = true
    const stop = this.#ask('_parley/stop', { ifIdle: true }, (response) => {
      const isStopping = fieldsOf(response.result)['stopping'] === true
      this.#upgrade.answered(isStopping)
      // Otherwise the next server answers the client.
      if (isStopping) return NOTHING
      this.#requests.take(call.id)
      this.#handshake.initialized(call.params)
      return line
    })
    this.#options.toServer(stop)
    return NOTHING
  }

  #serverNotified({ method, params }: Notification, line: Buffer): Buffer {
    const { requestId, sessionId, state, phase, _meta, update } = fieldsOf(params)
    switch (method) {
      case '_parley/server':
        if (state === 'stopping') this.#upgrade.stopping()
        if (state === 'moving') this.#move()
        return NOTHING
      case '$/cancel_request':
        this.#serverRequests.withdraw(requestId)
        return line
      case 'session/update':
        this.#sessions.updated(String(sessionId), fieldsOf(_meta), fieldsOf(update))
        return line
      case '_parley/turn':
        this.#sessions.setPhase(sessionId, phase)
        return line
      default:
        return line
    }
  }

  /** Notifies the server that the client sends nothing more on this connection. */
  #move(): void {
    this.#options.toServer(messageLine(notificationMessage('_parley/moved', {})))
    this.#upgrade.moving()
  }

  /** The same request for a new server; of a load, without what the client has of its replay already. */
  #repeat(call: OpenCall): Buffer {
    const { sessionId } = call.params
    this.#repeated.add(call.id)
    const session = this.#sessions.get(sessionId)
    if (session?.isOpen === true || !isOpening(call.method)) return call.line
    return messageLine(repeatedOpening(call, session, this.#requests.promptsOf(String(sessionId))))
  }

  #resumed(sessionId: string, { error }: Response): Buffer {
    // Such a server is about to end, and the next one is asked again.
    if (error?.code === 'SERVER_STOPPING') return NOTHING
    if (AWAY.has(error?.code)) {
      this.#isRefused = true
      return NOTHING
    }
    this.#resuming.delete(sessionId)
    this.#sendHeld(sessionId)
    if (error === undefined) return this.#repeatCancels(sessionId)
    this.#options.say(`Session ${sessionId} could not be resumed after the server was restarted (${error.code}).`)
    this.#sessions.forget(sessionId)
    return this.#interrupt((prompt) => prompt.isOrphan && prompt.sessionId === sessionId)
  }

  /** Sends what was held back while the session was resumed; nothing goes to a server that the session is leaving. */
  #sendHeld(sessionId: string): void {
    if (this.#upgrade.isPending) return
    const held = this.#requests.takeHeld((id) => id === sessionId)
    if (held.length > 0) this.#options.toServer(held)
  }

  /** A cancel may have been lost with the server, while the prompt that it cancels still waits. */
  #repeatCancels(sessionId: unknown): Buffer {
    for (const { id, isCancelled } of this.#requests.promptsOf(String(sessionId))) {
      if (isCancelled) this.#options.toServer(messageLine(notificationMessage('$/cancel_request', { requestId: id })))
    }
    return NOTHING
  }

  /** Answers prompts that no server will answer. */
  #interrupt(isLost: (prompt: OpenPrompt) => boolean): Buffer {
    const lines = this.#requests.takePrompts(isLost).map(({ id, sessionId, promptId }) => {
      this.#sessions.promptEnded(sessionId, promptId)
      return messageLine(errorMessage(id, new ParleyError('TURN_INTERRUPTED', { session: sessionId })))
    })
    return Buffer.concat(lines)
  }

  #fail(call: OpenCall, error: ParleyError): Buffer {
    this.#sessions.failed(call)
    return messageLine(errorMessage(call.id, error))
  }

  #willBeOpen(sessionId: string): boolean {
    if (this.#sessions.get(sessionId)?.isOpen === true) return true
    return this.#requests.calls().some((call) => isOpening(call.method) && call.params['sessionId'] === sessionId)
  }
}

/** Undefined for a line that the server would refuse to read: it says so to the client. */
function parseLine(line: Buffer): Message | undefined {
  const text = decodeUtf8(line)
  const message = text === undefined ? undefined : parseMessage(text)
  return message?.kind === 'unreadable' ? undefined : message
}

function messageLine(message: string): Buffer {
  return Buffer.from(`${message}\n`)
}

function isOpening(method: string): boolean {
  return method === 'session/load' || method === 'session/resume'
}
