/** How a client creates, opens and ends sessions. */
import { fieldsOf } from '../../rpc/json-rpc.ts'
import { isClientError } from '../client-error.ts'
import type { Peer } from '../connection/json-rpc-peer.ts'
import type { ReconnectingConnection } from '../connection/reconnecting-connection.ts'
import { sessionIdOf } from '../connection/responses.ts'
import type { Attachments, SessionToOpen } from './attachments.ts'

export interface SessionOpenerDeps {
  readonly connection: ReconnectingConnection
  readonly attachments: Attachments
}

export class SessionOpener {
  readonly #deps: SessionOpenerDeps
  #newRoots: readonly string[] | undefined

  constructor(deps: SessionOpenerDeps) {
    this.#deps = deps
  }

  /** The directories of a session that is being created: an agent may ask for files before we know its id. */
  get rootsOfNewSession(): readonly string[] | undefined {
    return this.#newRoots
  }

  /** `agent`: the one that answers in this session alone; else the connection's. */
  async create(cwd: string, agent?: string): Promise<string> {
    const { connection, attachments } = this.#deps
    this.#newRoots = [cwd]
    try {
      const named = agent !== undefined && { _meta: { 'parley/agent': agent } }
      const result = fieldsOf(await connection.requestOnce('session/new', { cwd, mcpServers: [], ...named }))
      const sessionId = sessionIdOf('session/new', result)
      attachments.follow({ sessionId, cwd })
      attachments.opened(sessionId, result)
      attachments.settings.opened(sessionId, result)
      return sessionId
    } finally {
      this.#newRoots = undefined
    }
  }

  /** Returns the result. */
  async open(method: 'session/load' | 'session/resume', session: SessionToOpen): Promise<unknown> {
    const { connection, attachments } = this.#deps
    const { sessionId } = session
    attachments.follow(session)
    try {
      const open = (peer: Peer) => attachments.open(method, sessionId, { peer, id: connection.newRequestId() })
      const result = await connection.requestUntilAnswered(open)
      attachments.settings.opened(sessionId, fieldsOf(result))
      return result
    } catch (error) {
      attachments.refused(sessionId)
      throw error
    }
  }

  /** When a repeated request finds that the session has ended already, the first one ended it. */
  async end(method: 'session/close' | 'session/delete', sessionId: string): Promise<void> {
    const { connection, attachments } = this.#deps
    let attempts = 0
    attachments.forget(sessionId)
    try {
      await connection.requestUntilAnswered((peer) => {
        attempts += 1
        return peer.request(connection.newRequestId(), method, { sessionId })
      })
    } catch (error) {
      if (attempts < 2 || !isClientError(error, 'PEER_REFUSED')) throw error
      if (!['SESSION_NOT_FOUND', 'SESSION_CLOSED'].includes(error.details.code)) throw error
    }
  }
}
