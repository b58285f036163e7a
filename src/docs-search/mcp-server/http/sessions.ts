/** Sessions of clients that open one with `initialize` (protocol revisions up to 2025-11-25). */
import { randomUUID } from 'node:crypto'
import {
  isInitializeRequest,
  type JSONRPCMessage,
  WebStandardStreamableHTTPServerTransport,
  type EventStore,
} from '@modelcontextprotocol/server'
import type { KeyHolder } from '../../keys/keys.ts'
import type { Change } from '../../collections/collection-set.ts'
import type { ClientServer } from '../mcp.ts'
import { asJson, endingWith } from './response-body.ts'
import { refusal } from './refusal.ts'

/** One HTTP exchange: the request, its body, the principal of its key, and when it is over. */
export interface McpExchange {
  readonly request: Request
  /** Undefined for a request without a body. */
  readonly body: unknown
  /** Whether the client says that it can read an answer from a stream. */
  readonly streams: boolean
  readonly principal: KeyHolder
  readonly over: Promise<void>
}

export interface SessionOptions {
  readonly build: (principal: KeyHolder) => ClientServer
  /** A session without any exchange for so long is ended. */
  readonly idleMs: number
  /** One session more ends the one that was idle for longest. */
  readonly most: number
  readonly log: (line: string) => void
}

interface Session {
  readonly transport: SessionTransport
  readonly client: ClientServer
  readonly principal: KeyHolder
  readonly idle: NodeJS.Timeout
  exchanges: number
}

type SendOptions = Parameters<WebStandardStreamableHTTPServerTransport['send']>[1]

/** Writes messages in the order in which the protocol's own texts show them, down to the byte. */
class SessionTransport extends WebStandardStreamableHTTPServerTransport {
  override send(message: JSONRPCMessage, options?: SendOptions): Promise<void> {
    const { jsonrpc, ...rest } = message
    const ordered = 'id' in rest ? { jsonrpc, id: rest.id, ...rest } : { jsonrpc, ...rest }
    return super.send(ordered, options)
  }
}

/** The first revision in which a body is one message. */
const WITHOUT_BATCHES = '2025-06-18'
/** After a lost stream a client comes back this soon. */
const RETRY_MS = 1_000

export class Sessions {
  readonly #options: SessionOptions
  /** By id, the longest idle first. */
  readonly #sessions = new Map<string, Session>()

  constructor(options: SessionOptions) {
    this.#options = options
  }

  async handle(exchange: McpExchange): Promise<Response> {
    const id = exchange.request.headers.get('mcp-session-id')
    if (id === null && isInitializeRequest(exchange.body)) return this.#open(exchange)
    if (id === null) return refusal(asksToInitialize(exchange.body) ? 'initialize' : 'sessionNeeded')
    const session = this.#sessions.get(id)
    // Another key must not even learn that the session is there.
    if (session === undefined || session.principal.id !== exchange.principal.id) return refusal('sessionUnknown')
    if (Array.isArray(exchange.body) && !mayBatch(session)) return refusal('batch')
    this.#busy(id, session, exchange.over)
    return answered(session.transport, exchange)
  }

  async #open(exchange: McpExchange): Promise<Response> {
    const { principal, over } = exchange
    const client = this.#options.build(principal)
    const transport = new SessionTransport({
      sessionIdGenerator: () => `mcp-session-${randomUUID()}`,
      eventStore: new SessionEvents(),
      retryInterval: RETRY_MS,
      onsessioninitialized: (id) => {
        const idle = setTimeout(() => void this.#end(id), this.#options.idleMs).unref()
        this.#busy(id, { transport, client, principal, idle, exchanges: 0 }, over)
      },
      onsessionclosed: (id) => this.#forget(id),
    })
    await client.server.connect(transport)
    const answer = await answered(transport, exchange)
    await this.#makeRoom()
    return answer
  }

  /** A session is not idle while an exchange lasts, and a stream of notifications is one. */
  #busy(id: string, session: Session, over: Promise<void>): void {
    session.exchanges += 1
    this.#sessions.delete(id)
    this.#sessions.set(id, session)
    void over.then(() => {
      session.exchanges -= 1
      if (this.#sessions.has(id)) session.idle.refresh()
    })
  }

  async #end(id: string): Promise<void> {
    const session = this.#sessions.get(id)
    if (session === undefined) return
    // The end of its exchanges restarts the idle time.
    if (session.exchanges === 0) await this.#close(id, session)
  }

  async #makeRoom(): Promise<void> {
    const quietFirst = [...this.#sessions].sort(([, a], [, b]) => Number(a.exchanges > 0) - Number(b.exchanges > 0))
    for (const [id, session] of quietFirst.slice(0, Math.max(0, this.#sessions.size - this.#options.most))) {
      await this.#close(id, session)
    }
  }

  async #close(id: string, session: Session): Promise<void> {
    this.#forget(id)
    await session.client.server.close()
  }

  #forget(id: string): void {
    clearTimeout(this.#sessions.get(id)?.idle)
    this.#sessions.delete(id)
  }

  /** Sends a change to every session. It reaches those that listen, and those that return to a lost stream. */
  tell(change: Change): void {
    for (const { client } of this.#sessions.values()) {
      client.notify(change).catch((error: unknown) => this.#options.log(`Notifying a client failed: ${String(error)}`))
    }
  }

  /** Ends the sessions of keys that were removed or have other collections now. */
  async retain(knows: (principal: KeyHolder) => boolean): Promise<void> {
    const gone = [...this.#sessions].filter(([, { principal }]) => !knows(principal))
    await Promise.all(gone.map(([id, session]) => this.#close(id, session)))
  }

  close(): Promise<void> {
    return this.retain(() => false)
  }
}

function asksToInitialize(body: unknown): boolean {
  return (body as { readonly method?: unknown } | null | undefined)?.method === 'initialize'
}

async function answered(transport: SessionTransport, { request, body, streams, over }: McpExchange): Promise<Response> {
  const answer = await transport.handleRequest(request, { parsedBody: body })
  if (answer.headers.get('content-type') !== 'text/event-stream') return answer
  return streams ? endingWith(answer, over) : asJson(answer, Array.isArray(body))
}

function mayBatch({ client }: Session): boolean {
  const version = client.server.getNegotiatedProtocolVersion()
  return version !== undefined && version < WITHOUT_BATCHES
}

interface StoredEvent {
  readonly id: string
  readonly stream: string
  readonly message: JSONRPCMessage
  readonly size: number
}

/** A client that lost more events must list and read again. */
const MOST_EVENTS = 500
const MOST_CHARACTERS = 4_000_000

/** Kept in memory, as long as the session. An id names its stream, and only what came after it there is given again. */
class SessionEvents implements EventStore {
  #events: StoredEvent[] = []
  #characters = 0
  #last = 0

  async storeEvent(stream: string, message: JSONRPCMessage): Promise<string> {
    const id = `${++this.#last}-${stream}`
    const size = JSON.stringify(message).length
    this.#events.push({ id, stream, message, size })
    this.#characters += size
    while (this.#events.length > MOST_EVENTS || (this.#characters > MOST_CHARACTERS && this.#events.length > 1)) {
      this.#characters -= this.#events.shift()?.size ?? 0
    }
    return id
  }

  async getStreamIdForEventId(id: string): Promise<string | undefined> {
    return this.#events.find((event) => event.id === id)?.stream
  }

  async replayEventsAfter(
    id: string,
    { send }: { send: (id: string, message: JSONRPCMessage) => Promise<void> },
  ): Promise<string> {
    const at = this.#events.findIndex((event) => event.id === id)
    const stream = this.#events[at]?.stream ?? ''
    // The first event of a stream is empty: it only carries the id from which a client resumes.
    const missed = this.#events.slice(at + 1).filter((event) => event.stream === stream && 'jsonrpc' in event.message)
    for (const event of missed) await send(event.id, event.message)
    return stream
  }
}
