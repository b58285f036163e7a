/** What client and server said to each other, as far as it takes to bring the client to a new server without its noticing. Pure. */
import { ParleyError } from '../../errors/parley-error.ts'
import { isOpening, repeated, resumption } from '../resume-params.ts'
import { HandshakeResult, type Handshake, withHandshake } from '../handshake.ts'
import { NOTHING } from '../lines.ts'
import {
  type Fields,
  type Notification,
  type Request,
  type RequestId,
  type Response,
  errorLine,
  fieldsOf,
  keyOf,
  notificationLine,
  read,
  requestLine,
} from '../messages.ts'
import { InternalRequests } from './internal-requests.ts'
import { type OpenCall, type OpenPrompt, ClientRequests, adoptedBy, named } from './client-requests.ts'
import { ServerRequests } from './server-requests.ts'
import { type End, ServerUpgrade } from '../server-upgrade.ts'
import { scanUpdateCursor } from './update-cursor.ts'
import { OpenSessions } from './open-sessions.ts'

export interface RelayStateOptions {
  readonly introduction: Handshake
  newId(): string
  /** To the server that is there now. */
  ask(line: Buffer): void
  tell(line: Buffer): void
  say(sentence: string): void
}

export class RelayState {
  readonly #host: RelayStateOptions
  readonly #requests = new ClientRequests()
  readonly #views = new OpenSessions()
  readonly #asked = new ServerRequests()
  readonly #own = new InternalRequests()
  /** Requests of the client that were sent again and wait for their answer. */
  readonly #repeated = new Set<string>()
  readonly #acquaintance = new HandshakeResult()
  readonly #takeover: ServerUpgrade

  constructor(host: RelayStateOptions) {
    this.#host = host
    this.#takeover = new ServerUpgrade(host.introduction.version, this.#own)
  }

  /** How the connection to the server ends if it ends now. */
  get end(): End {
    return this.#takeover.end
  }

  get waitsForRoom(): boolean {
    return this.#takeover.waitsForRoom
  }

  /** The client waits for an answer that should not take long. */
  get isOwed(): boolean {
    return this.#requests.calls().length > 0
  }

  /** All that was lost with the former server is restored. */
  get isWhole(): boolean {
    return this.#own.areAnswered && this.#repeated.size === 0
  }

  /** What the server gets for a line of the client. */
  fromClient(line: Buffer): Buffer {
    const message = read(line)
    switch (message?.kind) {
      case undefined:
        return line
      case 'response':
        return this.#settled(message, line)
      case 'notification':
        if (CANCELS.has(message.method)) this.#requests.noteCancel(message.method, message.params)
        return line
      case 'request':
        return this.#requested(message, line)
    }
  }

  /** What the client gets for a line of the server: mostly the same line. */
  fromServer(line: Buffer): Buffer {
    const seen = scanUpdateCursor(line)
    if (seen !== undefined) {
      this.#views.saw(seen)
      return line
    }
    const message = read(line)
    switch (message?.kind) {
      case undefined:
        return line
      case 'response':
        return this.#answered(message, line)
      case 'notification':
        return this.#notified(message, line)
      case 'request':
        this.#asked.asked(message)
        return line
    }
  }

  /** The server is gone. What the client is told of that: what it was asked is withdrawn, what cannot be repeated has failed. */
  lose(): Buffer {
    const withdrawn = this.#asked.lose()
    this.#own.clear()
    this.#repeated.clear()
    const stopped = this.#takeover.lose() === 'stops'
    const lost = stopped ? this.#requests.takeCalls() : this.#requests.takeUnrepeatable()
    const failed = lost.map((call) =>
      this.#failed(call, stopped ? new ParleyError('SERVER_STOPPING', {}) : restarted(call)),
    )
    this.#views.lose()
    this.#requests.orphan()
    return Buffer.concat([withdrawn, ...failed, this.#interrupt(({ sessionId }) => !this.#willBeOpen(sessionId))])
  }

  /** What a new server is told, so that all goes on where it was. */
  restore(): Buffer {
    const lines = this.#acquaintance.requests().map(([method, params]) => this.#own.line(method, params, () => NOTHING))
    for (const [sessionId, view] of this.#views.open()) {
      const params = resumption(view, this.#requests.promptsOf(sessionId))
      lines.push(this.#own.line('session/resume', params, (response) => this.#resumed(sessionId, response)))
    }
    for (const call of this.#requests.calls()) lines.push(this.#again(call))
    return Buffer.concat(lines)
  }

  /** No server can be reached: whoever waits is told why. */
  giveUp(error: ParleyError): Buffer {
    const failed = this.#requests.takeCalls().map((call) => this.#failed(call, error))
    return Buffer.concat([...failed, this.#interrupt(() => true)])
  }

  #settled(response: Response, line: Buffer): Buffer {
    const { isAwaited, toClient } = this.#asked.answered(response)
    if (toClient.length > 0) this.#host.tell(toClient)
    return isAwaited ? line : NOTHING
  }

  #requested(request: Request, line: Buffer): Buffer {
    const { id, method, params } = request
    if (method === 'initialize') return this.#call(request, withHandshake(params, this.#host.introduction))
    const prompt = method === 'session/prompt' ? named(request, () => this.#host.newId()) : undefined
    if (prompt !== undefined) {
      const { sessionId, promptId } = prompt
      this.#requests.add({ kind: 'prompt', id, sessionId, promptId, wantsEnd: false, isOrphan: false })
      return requestLine(id, method, prompt.params)
    }
    const adopts = isOpening(request) ? adoptedBy(params) : []
    this.#requests.add({ kind: 'call', id, method, params, line, adopts })
    for (const adopted of adopts) this.#requests.add(adopted)
    this.#views.asked(request)
    return line
  }

  #call({ id, method }: Request, params: Fields): Buffer {
    const line = requestLine(id, method, params)
    this.#requests.add({ kind: 'call', id, method, params, line, adopts: [] })
    return line
  }

  #answered(response: Response, line: Buffer): Buffer {
    const own = this.#own.answer(response)
    if (own !== undefined) return own
    const request = this.#requests.take(response.id)
    // What could not be read has no id; anything else that nobody waits for was answered by us.
    if (request === undefined) return response.id === null ? line : NOTHING
    if (request.kind === 'prompt') return this.#promptEnded(request, line)
    const told = this.#callAnswered(request, response, line)
    return this.#repeated.delete(keyOf(response.id)) ? Buffer.concat([told, this.#abandoned(request)]) : told
  }

  #promptEnded({ sessionId, promptId }: OpenPrompt, line: Buffer): Buffer {
    this.#views.promptEnded(sessionId, promptId)
    return line
  }

  #callAnswered(call: OpenCall, response: Response, line: Buffer): Buffer {
    this.#views.answered(call, response)
    if (response.errorCode !== undefined) {
      // What it was to take over is not answered on this connection.
      this.#requests.takePrompts((prompt) => call.adopts.includes(prompt))
      return line
    }
    if (call.method === 'initialize') return this.#greeted(call, response, line)
    if (call.method === 'authenticate') this.#acquaintance.admitted(call.params)
    if (call.method === 'logout') this.#loggedOut()
    if (isOpening(call)) this.#cancelAgain(call.params['sessionId'])
    return line
  }

  #loggedOut(): void {
    this.#acquaintance.loggedOut()
    for (const [sessionId] of this.#views.open()) this.#views.forget(sessionId)
  }

  /** A session that was to be opened again and was not: nobody will answer for its prompts. */
  #abandoned(call: OpenCall): Buffer {
    const { sessionId } = call.params
    if (!isOpening(call) || this.#views.get(sessionId)?.isOpen === true) return NOTHING
    return this.#interrupt((prompt) => prompt.isOrphan && prompt.sessionId === sessionId)
  }

  /** An older server is asked to make room, as long as the client has not begun to work with it and nobody else does. */
  #greeted(call: OpenCall, { result }: Response, line: Buffer): Buffer {
    const isFirst = !this.#acquaintance.isMade && !this.isOwed
    if (!isFirst || !this.#takeover.isDue(result)) return this.#met(call, line)
    this.#requests.add(call)
    const stop = this.#takeover.ask((makesRoom) => {
      if (makesRoom) return NOTHING
      this.#requests.take(call.id)
      return this.#met(call, line)
    })
    this.#host.ask(stop)
    return NOTHING
  }

  #met({ params }: OpenCall, line: Buffer): Buffer {
    this.#acquaintance.made(params)
    return line
  }

  #notified({ method, params }: Notification, line: Buffer): Buffer {
    const { requestId, sessionId, state, phase, _meta, update } = params
    switch (method) {
      case '_parley/server':
        if (state === 'stopping') this.#takeover.stopping()
        return NOTHING
      case '$/cancel_request':
        this.#asked.withdrawn(requestId as RequestId)
        return line
      case 'session/update':
        this.#views.updated(String(sessionId), fieldsOf(_meta), fieldsOf(update))
        return line
      case '_parley/turn':
        this.#views.stands(sessionId, phase)
        return line
      default:
        return line
    }
  }

  /** The same request, but for what the client has of its answer already. */
  #again(call: OpenCall): Buffer {
    const { sessionId } = call.params
    this.#repeated.add(keyOf(call.id))
    return repeated(call, this.#views.get(sessionId), this.#requests.promptsOf(String(sessionId)))
  }

  #resumed(sessionId: string, { errorCode }: Response): Buffer {
    // Such a server is about to leave, and the next one is asked again.
    if (errorCode === 'SERVER_STOPPING') return NOTHING
    if (errorCode === undefined) return this.#cancelAgain(sessionId)
    this.#host.say(`Session ${sessionId} could not be resumed after the server was restarted (${errorCode}).`)
    this.#views.forget(sessionId)
    return this.#interrupt((prompt) => prompt.isOrphan && prompt.sessionId === sessionId)
  }

  /** A cancel may have been lost with the server, while what it cancelled waits still. */
  #cancelAgain(sessionId: unknown): Buffer {
    for (const { id, wantsEnd } of this.#requests.promptsOf(String(sessionId))) {
      if (wantsEnd) this.#host.ask(notificationLine('$/cancel_request', { requestId: id }))
    }
    return NOTHING
  }

  /** Answers prompts that no server will answer. */
  #interrupt(isLost: (prompt: OpenPrompt) => boolean): Buffer {
    return Buffer.concat(this.#requests.takePrompts(isLost).map((prompt) => this.#cut(prompt)))
  }

  #failed(call: OpenCall, error: ParleyError): Buffer {
    this.#views.failed(call)
    return errorLine(call.id, error)
  }

  #cut({ id, sessionId, promptId }: OpenPrompt): Buffer {
    this.#views.promptEnded(sessionId, promptId)
    return errorLine(id, new ParleyError('TURN_INTERRUPTED', { session: sessionId }))
  }

  #willBeOpen(sessionId: string): boolean {
    if (this.#views.get(sessionId)?.isOpen === true) return true
    return this.#requests.calls().some((call) => isOpening(call) && call.params['sessionId'] === sessionId)
  }
}

const CANCELS: ReadonlySet<string> = new Set(['session/cancel', '$/cancel_request'])

function restarted({ method }: OpenCall): ParleyError {
  return new ParleyError('SERVER_RESTARTED', { method })
}
