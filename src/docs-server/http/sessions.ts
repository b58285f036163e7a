/** Sessions of clients that open one with `initialize` (protocol revisions up to 2025-11-25). */
import { randomUUID } from 'node:crypto'
import {
  isInitializeRequest,
  type JSONRPCMessage,
  type Server,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server'
import { refusal } from './refusal.ts'

/** One HTTP exchange: the request, what its body says, whose key it carries, and when it is over. */
export interface Exchange {
  readonly request: Request
  /** Undefined for a request without a body. */
  readonly body: unknown
  readonly key: number
  readonly over: Promise<void>
}

export interface SessionOptions {
  readonly build: () => Server
  /** A session without any exchange for so long is ended. */
  readonly idleMs: number
  /** One more ends the session that was quiet for longest. */
  readonly most: number
}

interface Session {
  readonly transport: SessionTransport
  readonly server: Server
  readonly key: number
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

export class Sessions {
  readonly #options: SessionOptions
  /** By id, the longest quiet first. */
  readonly #sessions = new Map<string, Session>()

  constructor(options: SessionOptions) {
    this.#options = options
  }

  async handle(exchange: Exchange): Promise<Response> {
    const id = exchange.request.headers.get('mcp-session-id')
    if (id === null) return isInitializeRequest(exchange.body) ? this.#open(exchange) : refusal('sessionNeeded')
    const session = this.#sessions.get(id)
    // Another key must not even learn that the session is there.
    if (session === undefined || session.key !== exchange.key) return refusal('sessionUnknown')
    if (Array.isArray(exchange.body) && !mayBatch(session)) return refusal('batch')
    this.#busy(id, session, exchange.over)
    const answer = await session.transport.handleRequest(exchange.request, { parsedBody: exchange.body })
    if (answer.headers.get('content-type') === 'text/event-stream') freeWhenLeft(session, exchange.over)
    return answer
  }

  async #open({ request, body, key, over }: Exchange): Promise<Response> {
    const server = this.#options.build()
    const transport = new SessionTransport({
      sessionIdGenerator: () => `mcp-session-${randomUUID()}`,
      enableJsonResponse: true,
      onsessioninitialized: (id) => {
        const idle = setTimeout(() => void this.#end(id), this.#options.idleMs).unref()
        this.#busy(id, { transport, server, key, idle, exchanges: 0 }, over)
      },
      onsessionclosed: (id) => this.#forget(id),
    })
    await server.connect(transport)
    const answer = await transport.handleRequest(request, { parsedBody: body })
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
    // The end of its exchanges starts the time anew.
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
    await session.server.close()
  }

  #forget(id: string): void {
    clearTimeout(this.#sessions.get(id)?.idle)
    this.#sessions.delete(id)
  }

  /** Tells every session that the list of tools is another now; it reaches those that listen. */
  async toolsChanged(): Promise<void> {
    await Promise.all([...this.#sessions.values()].map(({ server }) => server.sendToolListChanged()))
  }

  async close(): Promise<void> {
    await Promise.all([...this.#sessions].map(([id, session]) => this.#close(id, session)))
  }
}

/** Nothing else notices that nobody reads the stream any more, and a session has only one. */
function freeWhenLeft({ transport }: Session, over: Promise<void>): void {
  void over.then(() => transport.closeStandaloneSSEStream())
}

function mayBatch({ server }: Session): boolean {
  const version = server.getNegotiatedProtocolVersion()
  return version !== undefined && version < WITHOUT_BATCHES
}
