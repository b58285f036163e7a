/** POST, GET and DELETE of `/acp`: ACP for clients that speak HTTP alone. */
import type { TokenHolder } from '../../../credentials/access-tokens.ts'
import { ParleyError, fail, isParleyError } from '../../../errors/parley-error.ts'
import type { Clock } from '../../../ports/clock.ts'
import { decodeUtf8 } from '../../../rpc/framing.ts'
import { type Message, errorMessage, fieldsOf, parseMessage, refuseCostly } from '../../../rpc/json-rpc.ts'
import { refusalOf } from '../../acp/connection.ts'
import type { SharedLimit } from '../../transport/streams.ts'
import type { Connections } from '../connections.ts'
import type { BodyBudget } from '../admission/body-budget.ts'
import { BodyLost, BodyTooLong, type Exchange } from '../exchange.ts'
import type { Refusal } from '../request-checks.ts'
import { HttpTransport, type Posted } from './http-transport.ts'
import { isEventId } from './session-stream.ts'

const MAX_MESSAGE_BYTES = 16 * 1024 * 1024
/** The most that is read from a client before `initialize`. */
const GREETING_BYTES = 64 * 1024
const MAX_ID_CHARS = 1_024
const JSON_TYPE = { 'Content-Type': 'application/json' }

interface StreamableHttpDeps {
  readonly clock: Pick<Clock, 'setTimer' | 'id'>
  readonly connections: Connections
  readonly unread: SharedLimit
  readonly bodies: BodyBudget
}

interface KnownConnection {
  readonly transport: HttpTransport
  readonly holder: TokenHolder
}

export class StreamableHttp {
  readonly #around: StreamableHttpDeps
  readonly #known = new Map<string, KnownConnection>()
  #streams = 0
  readonly #streamsOf = new Map<string, number>()

  constructor(around: StreamableHttpDeps) {
    this.#around = around
  }

  handle(exchange: Exchange): void | Promise<void> {
    const { holder } = exchange
    if (holder === undefined) return undefined
    switch (exchange.method) {
      case 'POST':
        return this.#post(exchange, holder)
      case 'DELETE':
        return this.#delete(exchange, holder)
      default:
        return this.#read(exchange, holder)
    }
  }

  async #post(exchange: Exchange, holder: TokenHolder): Promise<void> {
    if (!isJson(exchange)) return exchange.refuse(NOT_JSON)
    const id = exchange.header('acp-connection-id')
    const known = this.#connectionOf(exchange, holder)
    if (id !== undefined && 'status' in known) return exchange.refuse(known)
    const limit = id === undefined ? GREETING_BYTES : MAX_MESSAGE_BYTES
    const release = this.#around.bodies.take(holder.id, lengthOf(exchange, limit))
    if (release === undefined) return exchange.refuse(TOO_MUCH)
    try {
      const posted = await postedIn(exchange, limit)
      if (posted === undefined) return
      if ('status' in known) return await this.#greet(exchange, holder, posted)
      const sessionId = sessionOf(exchange, posted)
      if (typeof sessionId === 'object') return exchange.refuse(sessionId)
      // It may have ended while the body came.
      if (!(await known.transport.post({ ...posted, sessionId }))) return exchange.refuse(UNKNOWN_CONNECTION)
      exchange.answer(202)
    } finally {
      // Until it is taken, the message is in memory.
      release()
    }
  }

  async #greet(exchange: Exchange, holder: TokenHolder, posted: Posted): Promise<void> {
    if (posted.method !== 'initialize' || posted.id === undefined) return refuseUngreeted(exchange, posted)
    const refusal = this.#around.connections.refusalFor(holder)
    if (refusal !== undefined) return exchange.refuse(refusal)
    const { clock, unread, connections } = this.#around
    const id = clock.id()
    const transport: HttpTransport = new HttpTransport({
      clock,
      unread,
      ended: () => {
        this.#known.delete(id)
        connections.remove(transport)
      },
    })
    this.#known.set(id, { transport, holder })
    connections.add(transport, holder, 'http')
    const answer = await transport.greet(posted, posted.id)
    if (answer === undefined) return exchange.refuse(GONE)
    if (answer.isError) transport.detach()
    exchange.answer(200, { ...JSON_TYPE, ...(!answer.isError && { 'Acp-Connection-Id': id }) }, answer.text)
  }

  #delete(exchange: Exchange, holder: TokenHolder): void {
    const known = this.#connectionOf(exchange, holder)
    if ('status' in known) return exchange.refuse(known)
    known.transport.detach()
    exchange.answer(202)
  }

  async #read(exchange: Exchange, holder: TokenHolder): Promise<void> {
    if (!wantsEvents(exchange)) return exchange.refuse(NO_STREAM)
    const known = this.#connectionOf(exchange, holder)
    if ('status' in known) return exchange.refuse(known)
    const sessionId = exchange.header('acp-session-id')
    // An empty one names no event.
    const after = exchange.header('last-event-id') || undefined
    if (sessionId !== undefined && sessionId.length > MAX_ID_CHARS) return exchange.refuse(ID_TOO_LONG)
    if (after !== undefined && !isEventId(after)) return exchange.refuse(NO_SUCH_EVENT)
    const full = this.#countStream(exchange, holder)
    if (full !== undefined) return exchange.refuse(full)
    let hasLeft = false
    exchange.response.once('close', () => (hasLeft = true))
    if (sessionId !== undefined && !(await this.#around.connections.mayRead(holder, sessionId)))
      return exchange.refuse(UNKNOWN_SESSION)
    const open = () => (hasLeft ? undefined : exchange.stream(EVENT_STREAM))
    const refused =
      sessionId === undefined
        ? known.transport.read(open, after)
        : await known.transport.readSession(sessionId, open, after)
    if (refused === undefined) return
    if (refused === 'taken') return exchange.refuse(TAKEN)
    if (refused === 'forgotten') return exchange.refuse(NO_SUCH_EVENT)
    return exchange.answer(409, JSON_TYPE, refused.text)
  }

  /** Counts it until its answer has ended; undefined when there was room for it. */
  #countStream({ response }: Exchange, { id }: TokenHolder): Refusal | undefined {
    const { ofAll, ofOne } = this.#around.connections.mostStreams
    const own = this.#streamsOf.get(id) ?? 0
    if (own >= ofOne) return tooManyOfOne(ofOne)
    if (this.#streams >= ofAll) return tooManyStreams(ofAll)
    this.#streams += 1
    this.#streamsOf.set(id, own + 1)
    response.once('close', () => {
      this.#streams -= 1
      const left = (this.#streamsOf.get(id) ?? 0) - 1
      if (left > 0) this.#streamsOf.set(id, left)
      else this.#streamsOf.delete(id)
    })
    return undefined
  }

  /** Ids are no credentials: another's connection is unknown. */
  #connectionOf(exchange: Exchange, holder: TokenHolder): KnownConnection | Refusal {
    const id = exchange.header('acp-connection-id')
    if (id === undefined) return NO_CONNECTION
    const known = this.#known.get(id)
    return known?.holder.id === holder.id ? known : UNKNOWN_CONNECTION
  }
}

/** A proxy must neither keep nor collect what it passes on. */
const EVENT_STREAM = {
  'Content-Type': 'text/event-stream',
  'Cache-Control': 'no-store, no-transform',
  'X-Accel-Buffering': 'no',
}

function isJson(exchange: Exchange): boolean {
  const [type = ''] = (exchange.header('content-type') ?? '').split(';', 1)
  return type.trim().toLowerCase() === 'application/json' && exchange.header('content-encoding') === undefined
}

function wantsEvents(exchange: Exchange): boolean {
  return (
    exchange.method === 'GET' && /(?:^|[\s,])text\/event-stream(?:$|[\s,;])/iu.test(exchange.header('accept') ?? '')
  )
}

/** Of the body, as far as it is known before it is read. */
function lengthOf(exchange: Exchange, limit: number): number {
  const length = Number(exchange.header('content-length') ?? limit)
  return length <= limit ? length : limit
}

/** The message of a POST. Undefined when the request was answered already, because there is none. */
async function postedIn(exchange: Exchange, limit: number): Promise<Posted | undefined> {
  try {
    const text = decodeUtf8(await exchange.body(limit))
    if (text === undefined) fail('MESSAGE_MALFORMED', { reason: 'it is not UTF-8' })
    const message = refuseCostly(text) ?? parseMessage(text)
    if (message.kind !== 'unreadable') return postedOf(text, message)
    exchange.answer(400, JSON_TYPE, errorMessage(message.id, refusalOf(message)))
    return undefined
  } catch (error) {
    if (error instanceof BodyTooLong) exchange.refuse(tooLong(limit))
    else if (isParleyError(error)) exchange.answer(400, JSON_TYPE, errorMessage(null, error))
    // A client that has left gets no answer.
    else if (!(error instanceof BodyLost)) throw error
    return undefined
  }
}

function postedOf(text: string, message: Message): Posted {
  const { sessionId } = fieldsOf(message.kind === 'response' ? undefined : message.params)
  return {
    text,
    method: message.kind === 'response' ? undefined : message.method,
    id: message.kind === 'notification' ? undefined : message.id,
    params: message.kind === 'response' ? undefined : message.params,
    sessionId: typeof sessionId === 'string' ? sessionId : undefined,
  }
}

function refuseUngreeted(exchange: Exchange, { id, method }: Posted): void {
  if (method === undefined || id === undefined) return exchange.refuse(NO_CONNECTION)
  exchange.answer(400, JSON_TYPE, errorMessage(id, new ParleyError('NOT_INITIALIZED', { method })))
}

/**
 * The session on whose stream the answer goes. What is about a session says so in its header too; only methods of ours may
 * leave that out, and are then answered on the stream of the connection.
 */
function sessionOf(exchange: Exchange, { method, sessionId }: Posted): string | undefined | Refusal {
  const named = exchange.header('acp-session-id')
  // No session has an id that a header could not name; a client that asks for one gets the error on the connection's stream.
  if (sessionId === undefined || !isHeaderValue(sessionId)) return undefined
  if (named === undefined) return method?.startsWith('_') === true ? undefined : NO_SESSION
  return named === sessionId ? sessionId : OTHER_SESSION
}

function isHeaderValue(id: string): boolean {
  return /^[!-~]+$/u.test(id) && id.length <= MAX_ID_CHARS
}

const NOT_JSON: Refusal = { status: 415, sentence: 'Post one JSON-RPC message, as application/json.' }
const NO_CONNECTION: Refusal = {
  status: 400,
  sentence: 'Post initialize first; later requests name the Acp-Connection-Id of its answer.',
}
const UNKNOWN_CONNECTION: Refusal = {
  status: 404,
  sentence: 'This connection is gone, or was never there. Post initialize again, and load your sessions.',
}
const UNKNOWN_SESSION: Refusal = { status: 404, sentence: 'There is no session with this Acp-Session-Id.' }
const NO_SESSION: Refusal = { status: 400, sentence: 'A message about a session names it in Acp-Session-Id too.' }
const OTHER_SESSION: Refusal = { status: 400, sentence: 'Acp-Session-Id names another session than the message.' }
const ID_TOO_LONG: Refusal = { status: 400, sentence: `An Acp-Session-Id has at most ${MAX_ID_CHARS} characters.` }
const NO_STREAM: Refusal = { status: 406, sentence: 'This answers with a stream; accept text/event-stream.' }
const TAKEN: Refusal = {
  status: 409,
  sentence: 'This stream is being read already. To take its place, name the Last-Event-ID that you have.',
}
const NO_SUCH_EVENT: Refusal = {
  status: 409,
  sentence: 'What came after that event is kept no longer. Post initialize again, and load your sessions.',
}
const TOO_MUCH: Refusal = {
  status: 503,
  sentence: 'Too many bytes of messages are on their way to the server already; send this again in a moment.',
  headers: { 'Retry-After': '1', Connection: 'close' },
}
const GONE: Refusal = { status: 503, sentence: 'The server stops. Sessions are stored; connect again and resume.' }

function tooManyStreams(most: number): Refusal {
  return { status: 429, sentence: `The server has ${most} open streams already; close one, or try again later.` }
}

function tooManyOfOne(most: number): Refusal {
  return { status: 429, sentence: `This access token has ${most} open streams already; close one first.` }
}

function tooLong(limit: number): Refusal {
  const sentence =
    limit === GREETING_BYTES
      ? 'Post initialize first; it has at most 64 KiB.'
      : `A message has at most ${limit / 1024 / 1024} MiB.`
  return { status: 413, sentence, headers: { Connection: 'close' } }
}
