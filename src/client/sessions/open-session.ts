/** How a client comes to have a session open, and how it leaves one. */
import { isParleyError } from '../../errors/parley-error.ts'
import { sessionIdOf } from '../connection/responses.ts'
import type { Attachments, Opening } from './attachments.ts'
import { fieldsOf } from '../initialize/capabilities.ts'
import type { Peer } from '../connection/json-rpc-peer.ts'
import type { Requests } from '../connection/requests.ts'
import type { KnownSettings } from './settings.ts'

export interface OpeningsHost {
  readonly requests: Requests
  readonly attachments: Attachments
  readonly settings: KnownSettings
}

export class Openings {
  readonly #host: OpeningsHost
  #creating: readonly string[] | undefined

  constructor(host: OpeningsHost) {
    this.#host = host
  }

  /** The directories of the session that is being made: an agent may ask before we know its id. */
  get creating(): readonly string[] | undefined {
    return this.#creating
  }

  async begin(cwd: string): Promise<string> {
    const { requests, attachments, settings } = this.#host
    this.#creating = [cwd]
    try {
      const result = fieldsOf(await requests.askOnce('session/new', { cwd, mcpServers: [] }))
      const sessionId = sessionIdOf('session/new', result)
      attachments.follow({ sessionId, cwd })
      attachments.opened(sessionId, result)
      settings.opened(sessionId, result)
      return sessionId
    } finally {
      this.#creating = undefined
    }
  }

  async open(method: 'session/load' | 'session/resume', session: Opening): Promise<void> {
    const { requests, attachments, settings } = this.#host
    const { sessionId } = session
    attachments.follow(session)
    try {
      const open = (peer: Peer) => attachments.open(method, sessionId, { peer, id: requests.newId() })
      settings.opened(sessionId, fieldsOf(await requests.persist(open)))
    } catch (error) {
      attachments.refused(sessionId)
      throw error
    }
  }

  /** Ended already is what was wanted, if it was we who asked before. */
  async end(method: 'session/close' | 'session/delete', sessionId: string): Promise<void> {
    const { requests, attachments } = this.#host
    let asked = 0
    attachments.forget(sessionId)
    try {
      await requests.persist((peer) => {
        asked += 1
        return peer.request(requests.newId(), method, { sessionId })
      })
    } catch (error) {
      if (asked < 2 || !isParleyError(error, 'PEER_REFUSED')) throw error
      if (!['SESSION_NOT_FOUND', 'SESSION_CLOSED'].includes(error.details.code)) throw error
    }
  }
}
