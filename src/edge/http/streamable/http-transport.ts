/**
 * ACP over Streamable HTTP: a client sends each message as a POST and reads what the server sends from streams of events,
 * one for the connection and one for each session.
 */
import type { ServerResponse } from 'node:http'
import type { TokenHolder } from '../../../credentials/access-tokens.ts'
import type { Clock, Timer } from '../../../ports/clock.ts'
import type { RequestId } from '../../../rpc/json-rpc.ts'
import { BACKPRESSURE_BYTES, type Holder, MAX_UNREAD_BYTES, type SharedLimit } from '../../transport/streams.ts'
import type { RemoteTransport } from '../connections.ts'
import { CLOSE } from '../websocket.ts'
import { EventStream } from './event-stream.ts'
import { OpenedSessions, continuedAfter } from './opened-sessions.ts'
import { type Outgoing, outgoing } from './routing.ts'
import { SessionStream, parseEventId } from './session-stream.ts'

/** Below the idle limits of usual proxies, 60 s. */
const KEEP_ALIVE_MS = 20_000
/** How long a connection stays that no client reads. */
const IDLE_MS = 60_000
/** How long answers of a session wait for its stream to be read for the first time. */
const FIRST_READER_MS = 10_000
/** How long a reader may take to read why its stream ends. */
const CLOSE_MS = 500
/** How much the stream of the connection keeps for a reader whose connection broke, because these messages are in no journal. */
const KEPT_BYTES = 2 * 1024 * 1024

interface HttpTransportDeps {
  readonly clock: Pick<Clock, 'setTimer' | 'id'>
  /** Counts the bytes that clients of all connections have not read yet. */
  readonly unread: SharedLimit
  ended(): void
}

/** A message of the client, as its POST brought it. */
export interface Posted {
  readonly text: string
  /** Undefined for a response. */
  readonly method: string | undefined
  /** Undefined for a notification. */
  readonly id: RequestId | undefined
  readonly params: unknown
  /** The session on whose stream the answer goes. */
  readonly sessionId: string | undefined
}

/** Begins the answer to a reader; undefined for one that has left. */
type OpenStream = () => ServerResponse | undefined

export class HttpTransport implements RemoteTransport, Holder {
  readonly #around: HttpTransportDeps
  readonly #connection = new EventStream(KEPT_BYTES, '0')
  /** Of the events on that. */
  #count = 0
  readonly #sessions = new Map<string, SessionStream>()
  readonly #opened = new OpenedSessions()
  /** Requests of the client without an answer, with the session of each. */
  readonly #asked = new Map<RequestId, string | undefined>()
  /** Requests to the client, with the session of each. */
  readonly #asks = new Map<RequestId, string>()
  /** Answers that no stream carries. */
  readonly #awaited = new Map<RequestId, (answer: Outgoing | undefined) => void>()
  #posted: { readonly text: string; readonly taken: (isTaken: boolean) => void }[] = []
  #hasEnded = false
  #wake: () => void = () => undefined
  #keepAlive: Timer | undefined
  #idle: Timer | undefined

  constructor(around: HttpTransportDeps) {
    this.#around = around
    this.#keepAliveLater()
    this.#idleLater()
  }

  get messages(): AsyncIterable<readonly string[]> {
    return this.#messages()
  }

  /** Resolves with the answer to `initialize`, which no stream carries; undefined when the connection has ended. */
  greet({ text }: Posted, id: RequestId): Promise<Outgoing | undefined> {
    return this.#askedBehind(id, text)
  }

  /** Resolves when the server has taken the message, or with false when the connection has ended before. */
  post({ text, method, id, params, sessionId }: Posted): Promise<boolean> {
    this.#idleLater()
    if (method === undefined && id !== undefined) this.#asks.delete(id)
    if (method !== undefined && id !== undefined) {
      this.#asked.set(id, sessionId)
      this.#opened.asked(id, method, params)
    }
    const stream = sessionId === undefined ? undefined : this.#sessions.get(sessionId)
    return this.#take(stream?.after === undefined ? text : continuedAfter(text, stream.after))
  }

  /**
   * `after`: the last event that the reader has; `open` begins the answer. Says why the reader may not read here; undefined
   * when it does.
   */
  read(open: OpenStream, after: string | undefined): 'taken' | 'forgotten' | undefined {
    if (after === undefined && this.#connection.hasReader) return 'taken'
    if (after !== undefined && !this.#connection.rewindTo(after)) return 'forgotten'
    this.#begin(open, this.#connection)
    return undefined
  }

  /** As `read`, of one session. Whatever is missing comes from the journal; an answer says why it does not. */
  async readSession(
    sessionId: string,
    open: OpenStream,
    after: string | undefined,
  ): Promise<'taken' | Outgoing | undefined> {
    const stream = this.#streamOf(sessionId)
    if (after === undefined && stream.hasReader) return 'taken'
    const place = after === undefined ? undefined : stream.placeAfter(after)
    if (place !== undefined && !stream.rewindTo(place)) {
      const refused = await this.#reload(sessionId, stream, place)
      if (refused !== undefined) return refused
    }
    stream.patience?.cancel()
    stream.answersElsewhere = false
    this.#begin(open, stream)?.once('close', () => this.#forgetUnused(sessionId, stream))
    return undefined
  }

  send(messages: readonly string[]): void {
    if (this.#hasEnded) return
    for (const message of outgoing(messages)) this.#send(message)
    const bytes = this.bytes()
    if (bytes > MAX_UNREAD_BYTES) this.cut('slow')
    if (bytes > BACKPRESSURE_BYTES) this.#around.unread.changed(this)
  }

  opened(id: RequestId): void {
    for (const stream of this.#sessions.values()) stream.opened(id)
  }

  isBackpressured(sessionId?: string): boolean {
    return !this.#hasEnded && this.#owed(sessionId) > BACKPRESSURE_BYTES
  }

  async drained(sessionId?: string): Promise<void> {
    while (!this.#hasEnded && this.#owed(sessionId) > BACKPRESSURE_BYTES / 2) await this.#existing(sessionId).changed()
  }

  async close(): Promise<void> {
    this.cut('restarting')
  }

  destroy(): void {
    for (const stream of this.#streams()) stream.destroy()
    this.#end()
  }

  /** The client leaves; its sessions stay. */
  detach(): void {
    for (const stream of this.#streams()) stream.end('The connection was closed.')
    this.#end()
  }

  cut(why: TokenHolder['kind'] | 'role' | 'slow' | 'restarting'): void {
    if (this.#hasEnded) return
    for (const { taken } of this.#posted.splice(0)) taken(false)
    const [code, sentence] = CLOSE[why]
    for (const stream of this.#streams()) stream.end(`${code} ${sentence}`)
    this.#end()
    this.#around.clock.setTimer(CLOSE_MS, () => this.destroy())
  }

  bytes(): number {
    return this.#hasEnded ? 0 : this.#streams().reduce((sum, { owedBytes }) => sum + owedBytes, 0)
  }

  cutOff(): void {
    this.cut('slow')
    this.destroy()
  }

  #streams(): readonly EventStream[] {
    return [this.#connection, ...this.#sessions.values()]
  }

  #streamOf(sessionId: string): SessionStream {
    const stream = this.#sessions.get(sessionId) ?? new SessionStream()
    this.#sessions.set(sessionId, stream)
    return stream
  }

  #existing(sessionId: string | undefined): EventStream {
    return (sessionId === undefined ? undefined : this.#sessions.get(sessionId)) ?? this.#connection
  }

  #owed(sessionId: string | undefined): number {
    return this.#existing(sessionId).owedBytes
  }

  #take(text: string): Promise<boolean> {
    if (this.#hasEnded) return Promise.resolve(false)
    return new Promise((taken) => {
      this.#posted.push({ text, taken })
      this.#wake()
    })
  }

  /** Resolves with the answer, which the client does not see. */
  #askedBehind(id: RequestId, text: string): Promise<Outgoing | undefined> {
    if (this.#hasEnded) return Promise.resolve(undefined)
    return new Promise((answered) => {
      this.#awaited.set(id, answered)
      void this.#take(text)
    })
  }

  /** Resolves when there is something to read, or with the error why there is not. */
  async #reload(sessionId: string, stream: SessionStream, after: string): Promise<'taken' | Outgoing | undefined> {
    const [seq] = parseEventId(after)
    const id = this.#around.clock.id()
    const request = this.#opened.reloadOf(sessionId, seq, id)
    if (request === undefined) {
      // It is still to be opened, and then begins there.
      stream.after = seq
      return undefined
    }
    const begun = stream.reload(after, id)
    const answer = this.#askedBehind(id, request).then((answered) => {
      stream.reloaded(id)
      return answered
    })
    const first = await Promise.race([answer, begun])
    // Another reader came meanwhile.
    if (first === 'superseded') return 'taken'
    return typeof first === 'object' && first.isError ? first : undefined
  }

  #begin(open: OpenStream, stream: EventStream): ServerResponse | undefined {
    const response = open()
    if (response === undefined) return undefined
    this.#idle?.cancel()
    response.once('close', () => this.#idleLater())
    if (this.#hasEnded) response.end()
    else stream.read(response)
    return response
  }

  #send(message: Outgoing): void {
    const { id, method } = message
    if (method === undefined && id !== undefined && this.#isAwaited(id, message)) return
    const sessionId = method === undefined ? this.#answered(message) : this.#sessionOf(message)
    if (sessionId === undefined) return this.#sendOnConnection([message])
    const stream = this.#streamOf(sessionId)
    if (method !== undefined || stream.wasRead) return stream.send([message])
    if (stream.answersElsewhere) return this.#sendOnConnection([message])
    stream.send([message])
    stream.patience ??= this.#around.clock.setTimer(FIRST_READER_MS, () => this.#answerElsewhere(sessionId, stream))
  }

  #isAwaited(id: RequestId, message: Outgoing): boolean {
    const answered = this.#awaited.get(id)
    this.#awaited.delete(id)
    answered?.(message)
    return answered !== undefined
  }

  /** The session of the request that this answers. */
  #answered(answer: Outgoing): string | undefined {
    const { id = null } = answer
    this.#opened.answered(answer)
    const sessionId = this.#asked.get(id)
    this.#asked.delete(id)
    return sessionId
  }

  /** The session that a request or a notification to the client is about. */
  #sessionOf({ id, sessionId, requestId }: Outgoing): string | undefined {
    if (sessionId === undefined) return requestId === undefined ? undefined : this.#asks.get(requestId)
    if (id !== undefined) this.#asks.set(id, sessionId)
    return sessionId
  }

  #sendOnConnection(messages: readonly Pick<Outgoing, 'text'>[]): void {
    this.#connection.push(
      messages.map(({ text }) => ({ id: String((this.#count += 1)), text, isStored: false, isAnswer: false })),
    )
  }

  #answerElsewhere(sessionId: string, stream: SessionStream): void {
    stream.patience = undefined
    if (stream.wasRead) return
    stream.answersElsewhere = true
    this.#sendOnConnection(stream.takeWaiting(({ isAnswer }) => isAnswer))
    this.#forgetUnused(sessionId, stream)
  }

  #forgetUnused(sessionId: string, stream: SessionStream): void {
    const isUnused = stream.isEmpty && !stream.hasReader
    if (isUnused && this.#sessions.get(sessionId) === stream) this.#sessions.delete(sessionId)
  }

  async *#messages(): AsyncGenerator<readonly string[]> {
    for (;;) {
      const posted = this.#posted.shift()
      if (posted !== undefined) {
        posted.taken(true)
        yield [posted.text]
      } else if (this.#hasEnded) return
      else await new Promise<void>((resolve) => (this.#wake = resolve))
    }
  }

  #keepAliveLater(): void {
    this.#keepAlive = this.#around.clock.setTimer(KEEP_ALIVE_MS, () => {
      for (const stream of this.#streams()) stream.keepAlive()
      this.#keepAliveLater()
    })
  }

  #idleLater(): void {
    this.#idle?.cancel()
    if (this.#hasEnded || this.#streams().some(({ hasReader }) => hasReader)) return
    this.#idle = this.#around.clock.setTimer(IDLE_MS, () => this.detach())
  }

  #end(): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    this.#keepAlive?.cancel()
    this.#idle?.cancel()
    for (const { patience } of this.#sessions.values()) patience?.cancel()
    for (const answered of this.#awaited.values()) answered(undefined)
    this.#awaited.clear()
    this.#around.unread.changed(this)
    this.#around.ended()
    this.#wake()
  }
}
