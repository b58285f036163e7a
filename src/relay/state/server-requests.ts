/** What the server has asked of the client and not been answered, and the terminals that it has there: both are ended when it dies. */
import { NOTHING } from '../lines.ts'
import {
  type Fields,
  type Request,
  type RequestId,
  type Response,
  keyOf,
  notificationLine,
  requestLine,
} from '../messages.ts'
import { discardedId } from './internal-requests.ts'

/** A terminal, or one that may still be made: only whoever names its session may let go of it. */
interface Making {
  readonly sessionId: unknown
  /** The server that asked for it is gone. */
  isOrphan: boolean
}

/** Where an answer of the client goes, and what the client is told of it. */
export interface Settled {
  readonly isAwaited: boolean
  readonly toClient: Buffer
}

export class ServerRequests {
  readonly #open = new Map<string, RequestId>()
  /** Requests for a terminal, until they are answered: also those that nobody waits for any more. */
  readonly #making = new Map<string, Making>()
  readonly #terminals = new Map<string, unknown>()
  #releases = 0

  asked({ id, method, params }: Request): void {
    this.#open.set(keyOf(id), id)
    const { sessionId, terminalId } = params
    if (method === 'terminal/create') this.#making.set(keyOf(id), { sessionId, isOrphan: false })
    if (method === 'terminal/release') this.#terminals.delete(String(terminalId))
  }

  /** The server waits no longer. A terminal that is made all the same is its own to let go of. */
  withdrawn(id: RequestId): void {
    if (!this.#making.has(keyOf(id))) this.#open.delete(keyOf(id))
  }

  /** What comes late for a server that is gone, or for something that was withdrawn, nobody needs. */
  answered({ id, result }: Response): Settled {
    const key = keyOf(id)
    const making = this.#making.get(key)
    this.#making.delete(key)
    const isAwaited = this.#open.delete(key)
    const { terminalId } = result
    if (making === undefined || typeof terminalId !== 'string') return { isAwaited, toClient: NOTHING }
    if (making.isOrphan) return { isAwaited, toClient: this.#release(terminalId, making.sessionId) }
    this.#terminals.set(terminalId, making.sessionId)
    return { isAwaited, toClient: NOTHING }
  }

  /** The server is gone: what it asked is withdrawn, and what it has at the client is let go of. */
  lose(): Buffer {
    const withdrawn = [...this.#open.values()].map((requestId) => notificationLine('$/cancel_request', { requestId }))
    const released = [...this.#terminals].map(([terminalId, sessionId]) => this.#release(terminalId, sessionId))
    this.#open.clear()
    this.#terminals.clear()
    for (const making of this.#making.values()) making.isOrphan = true
    return Buffer.concat([...withdrawn, ...released])
  }

  #release(terminalId: string, sessionId: unknown): Buffer {
    this.#releases += 1
    const params: Fields = { sessionId, terminalId }
    return requestLine(discardedId(`release-${this.#releases}`), 'terminal/release', params)
  }
}
