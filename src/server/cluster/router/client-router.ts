/**
 * Routes the messages of one client of this node. A message about a session goes to the node that has it, over a
 * connection for that session alone. Everything else is answered here. The client sees one server.
 */
import { parseClientCapabilities } from '../../../edge/acp/v1/initialize/client-capabilities.ts'
import type { Received, Transport } from '../../../edge/transport/transport.ts'
import {
  type Request,
  type RequestId,
  type Response,
  fieldsOf,
  notificationMessage,
  parseMessage,
  refuseCostly,
} from '../../../rpc/json-rpc.ts'
import { adoptedPrompts } from '../../../relay/state/open-requests.ts'
import { OPENED } from '../links/session-end.ts'
import { MainTransport } from './main-transport.ts'
import { GREETING_ID, SessionWire, type WireOwner } from './session-wire.ts'
import { SessionDialer } from './session-dialer.ts'
import type { Made, SessionNodes } from './session-nodes.ts'
import type { Certainty } from './standing.ts'

/** They name a session and only read what is stored, or concern what this node knows, as the links by which one comes in here. */
const ANSWERED_HERE: ReadonlySet<string> = new Set([
  '_parley/page',
  '_parley/outline',
  '_parley/seen',
  '_parley/access/share',
])
/** Their answers name a session that is open on the same connection from then on. */
const CREATING: ReadonlySet<string> = new Set(['session/new', 'session/fork'])
const OPENING: ReadonlySet<string> = new Set(['session/load', 'session/resume'])
const CLOSING: ReadonlySet<string> = new Set(['session/close', 'session/delete'])
/** The connections of sessions begin with these, too. */
const GREETINGS: ReadonlySet<string> = new Set(['authenticate', 'logout'])
const UPDATE = '{"jsonrpc":"2.0","method":"session/update"'

interface Routed {
  readonly wire: SessionWire
  readonly method: string
}

export class ClientRouter implements WireOwner {
  readonly #client: Transport
  readonly #nodes: SessionNodes
  readonly #main: MainTransport
  /** By the id of their session. */
  readonly #wires = new Map<string, SessionWire>()
  /** With those whose session is still being made. */
  readonly #all = new Set<SessionWire>()
  /** Requests of the client that have no answer yet. */
  readonly #requests = new Map<RequestId, Routed>()
  /** Prompts of a former connection of the client, by the ids of their requests: it may cancel them here. */
  readonly #adopted = new Map<RequestId, SessionWire>()
  /** Requests of sessions to the client that it has not answered. */
  readonly #asked = new Map<RequestId, SessionWire>()
  /** What the client has introduced itself with. */
  #greetings: readonly Request[] = []

  constructor(client: Transport, nodes: SessionNodes) {
    this.#client = client
    this.#nodes = nodes
    this.#main = new MainTransport(client)
  }

  /** Serves until the client closes its side. `serveHere` serves what concerns no session. */
  async serve(serveHere: (main: Transport) => Promise<void>): Promise<void> {
    const serving = serveHere(this.#main)
    try {
      for await (const messages of this.#client.messages) for (const message of messages) await this.#receive(message)
    } finally {
      this.#main.end()
      await Promise.all([...this.#all].map((wire) => wire.end()))
      await serving
    }
  }

  /** For a client that asked for what befalls its server. */
  stands(state: Certainty): void {
    const hello = this.#greetings.find(({ method }) => method === 'initialize')
    if (hello !== undefined && parseClientCapabilities(hello.params).wantsServerNotification)
      this.#client.send([notificationMessage('_parley/server', { state })])
  }

  newId(): string {
    return this.#nodes.newId()
  }

  note(sentence: string): void {
    this.#nodes.note(sentence)
  }

  report(error: unknown): void {
    this.#nodes.report(error)
  }

  fromSession(wire: SessionWire, lines: readonly string[]): Promise<void> | undefined {
    const passed = lines.every((line) => line.startsWith(UPDATE))
      ? lines
      : lines.filter((line) => this.#passes(wire, line))
    if (passed.length > 0) this.#client.send(passed)
    const { sessionId } = wire
    return this.#client.isBackpressured(sessionId) ? this.#client.drained(sessionId) : undefined
  }

  async #receive(received: Received): Promise<void> {
    const message = typeof received === 'string' ? (refuseCostly(received) ?? parseMessage(received)) : undefined
    if (typeof received !== 'string' || message === undefined || message.kind === 'unreadable')
      return this.#main.push(received)
    const wire = this.#wireFor(message, received)
    if (wire === undefined) return this.#main.push(received)
    wire.send(received)
    await wire.untilRoom()
  }

  /** Undefined for what this node answers itself. */
  #wireFor(message: Exclude<ReturnType<typeof parseMessage>, { kind: 'unreadable' }>, text: string) {
    switch (message.kind) {
      case 'response':
        return this.#answered(message)
      case 'notification': {
        const { requestId, sessionId } = fieldsOf(message.params)
        if (message.method === '$/cancel_request') return this.#wireOfRequest(requestId as RequestId)
        return this.#wires.get(String(sessionId))
      }
      case 'request':
        return this.#requested(message, text)
    }
  }

  #wireOfRequest(id: RequestId): SessionWire | undefined {
    return this.#requests.get(id)?.wire ?? this.#adopted.get(id)
  }

  #answered({ id }: Response): SessionWire | undefined {
    const wire = this.#asked.get(id)
    this.#asked.delete(id)
    return wire
  }

  #requested(request: Request, text: string): SessionWire | undefined {
    const { id, method, params } = request
    if (method === 'initialize') this.#greetings = [request]
    if (GREETINGS.has(method)) this.#greet(request)
    const { sessionId } = fieldsOf(params)
    const isOfSession = typeof sessionId === 'string' && !ANSWERED_HERE.has(method)
    // Before `initialize` everything is refused, and a request without an id that names it cannot be followed.
    if (this.#greetings.length === 0 || id === null || text.length === 0) return undefined
    if (!isOfSession && !CREATING.has(method)) return undefined
    const wire = CREATING.has(method) ? this.#open(undefined, params) : this.#wireOf(String(sessionId))
    wire.pending += 1
    this.#requests.set(id, { wire, method })
    if (OPENING.has(method)) for (const prompt of adoptedPrompts(fieldsOf(params))) this.#adopted.set(prompt.id, wire)
    return wire
  }

  /** All connections of the client know who it is. */
  #greet(request: Request): void {
    this.#greetings = [...this.#greetings.filter(({ method }) => method !== request.method), request]
    for (const wire of this.#all) wire.greet(request.method, request.params)
  }

  #wireOf(sessionId: string): SessionWire {
    const known = this.#wires.get(sessionId)
    if (known !== undefined) return known
    const wire = this.#open(sessionId)
    this.#wires.set(sessionId, wire)
    return wire
  }

  /** `params` of the request that makes it: a fork is made where its source is. */
  #open(sessionId: string | undefined, params?: unknown): SessionWire {
    const made = madeBy(params)
    let wire: SessionWire | undefined
    const open = () => this.#nodes.connect(wire?.sessionId ?? sessionId, made)
    wire = new SessionWire(new SessionDialer(open, this.#nodes.clock), this)
    wire.sessionId = sessionId
    for (const { method, params } of this.#greetings) wire.greet(method, params)
    this.#all.add(wire)
    return wire
  }

  /** Whether the client gets the line. */
  #passes(wire: SessionWire, line: string): boolean {
    if (line.startsWith(UPDATE)) return true
    const message = parseMessage(line)
    switch (message.kind) {
      case 'unreadable':
        return true
      case 'request':
        this.#asked.set(message.id, wire)
        return true
      case 'notification':
        if (message.method !== OPENED) return true
        this.#client.opened?.(fieldsOf(message.params)['requestId'] as RequestId)
        return false
      case 'response':
        return this.#responded(wire, message)
    }
  }

  #responded(wire: SessionWire, { id, result, error }: Response): boolean {
    if (id === GREETING_ID) return false
    const routed = this.#requests.get(id)
    this.#adopted.delete(id)
    if (routed === undefined) return true
    this.#requests.delete(id)
    wire.pending -= 1
    if (error === undefined) this.#succeeded(wire, routed.method, fieldsOf(result)['sessionId'])
    if (!wire.isOpen && wire.pending === 0) this.#leave(wire)
    return true
  }

  #succeeded(wire: SessionWire, method: string, sessionId: unknown): void {
    if (CREATING.has(method) && typeof sessionId === 'string') {
      wire.sessionId = sessionId
      this.#wires.set(sessionId, wire)
    }
    if (CREATING.has(method) || OPENING.has(method)) wire.isOpen = true
    if (CLOSING.has(method)) wire.isOpen = false
  }

  #leave(wire: SessionWire): void {
    const { sessionId } = wire
    if (sessionId !== undefined && this.#wires.get(sessionId) === wire) this.#wires.delete(sessionId)
    this.#all.delete(wire)
    for (const known of [this.#asked, this.#adopted])
      for (const [id, other] of known) if (other === wire) known.delete(id)
    void wire.end()
  }
}

/** What is not of its type is refused by the node that makes the session. */
function madeBy(params: unknown): Made {
  const { sessionId, cwd, _meta } = fieldsOf(params)
  const { 'parley/node': node, 'parley/labels': labels } = fieldsOf(_meta)
  return {
    ...(typeof sessionId === 'string' && { source: sessionId }),
    wish: {
      cwd: typeof cwd === 'string' ? cwd : '',
      ...(typeof node === 'string' && { node }),
      labels: fieldsOf(labels) as Readonly<Record<string, string>>,
    },
  }
}
