/** The attachments of one connection, at most one per session. An attachment follows its session when that is closed and opened again. */
import { SerialQueues } from '../../../../async/serial.ts'
import { type ParleyError, fail } from '../../../../errors/parley-error.ts'
import type { SessionDirectory, SessionHandle } from '../../../../session/handle.ts'
import { Attachment, type AttachmentStart, type ConnectedClient } from './attachment.ts'

export class Attachments {
  readonly #client: ConnectedClient
  readonly #attachments = new Map<string, Attachment>()
  /** Attaching takes time; two attachments to one session would both take the place of the same former one. */
  readonly #attaching = new SerialQueues<string>()
  /** Sessions that were opened again while their attachment was not live yet; it follows when it is. */
  readonly #reopened = new Map<string, SessionHandle>()
  readonly #stopWatching: () => void
  #isDetached = false

  constructor(sessions: Pick<SessionDirectory, 'whenOpened'>, client: ConnectedClient) {
    this.#client = client
    this.#stopWatching = sessions.whenOpened((session) => {
      this.#follow(session).catch((error: unknown) => client.report(error))
    })
  }

  get(sessionId: string): Attachment | undefined {
    return this.#attachments.get(sessionId)
  }

  all(): readonly Attachment[] {
    return [...this.#attachments.values()]
  }

  /**
   * Takes the place of the attachment that this connection has to the same session, if it has one. `requireWanted` throws when
   * the client has cancelled its request or may no longer make it. Throws that, CLIENT_GONE and SESSION_CLOSED.
   */
  attach(session: SessionHandle, start: AttachmentStart, requireWanted: () => void): Promise<Attachment> {
    return this.#attaching.run(session.id, () => this.#attach(session, start, requireWanted))
  }

  /** From here on the client gets every entry as it is stored. */
  async goLive(attachment: Attachment): Promise<void> {
    await attachment.goLive()
    const reopened = this.#reopened.get(attachment.session.id)
    if (reopened !== undefined) await this.#follow(reopened)
  }

  /** The client leaves the session: each of its open prompts is answered with its end, else with `reason`. */
  async abandon(sessionId: string, reason: ParleyError): Promise<void> {
    const attachment = this.#attachments.get(sessionId)
    this.#attachments.delete(sessionId)
    this.#reopened.delete(sessionId)
    await attachment?.abandon(reason)
  }

  async abandonAll(reason: ParleyError): Promise<void> {
    await Promise.all([...this.#attachments.keys()].map((sessionId) => this.abandon(sessionId, reason)))
  }

  /** The client has disconnected. */
  detach(): void {
    this.#isDetached = true
    this.#stopWatching()
    for (const attachment of this.#attachments.values()) attachment.detach()
    this.#attachments.clear()
    this.#reopened.clear()
  }

  async #attach(session: SessionHandle, start: AttachmentStart, requireWanted: () => void): Promise<Attachment> {
    const requireAttachable = (): void => {
      if (this.#isDetached) fail('CLIENT_GONE', { method: 'session/load' })
      requireWanted()
    }
    try {
      requireAttachable()
      const former = this.#attachments.get(session.id)
      const attachment = new Attachment(session, this.#client, former?.prompts)
      await attachment.subscribe(start, former, requireAttachable)
      this.#attachments.set(session.id, attachment)
      this.#reopened.delete(session.id)
      return attachment
    } catch (error) {
      session.releaseConfig(start.config)
      throw error
    }
  }

  /** Another client closed the session, or another server took it, and now it was opened again: this client continues from its cursor. */
  async #follow(session: SessionHandle): Promise<void> {
    const attachment = await this.#attaching.run(session.id, async () => {
      const former = this.#attachments.get(session.id)
      if (former === undefined || former.session === session || session.closed.aborted) return undefined
      if (former.isLive) return this.#attach(session, former.start, () => undefined)
      this.#reopened.set(session.id, session)
      return undefined
    })
    if (attachment !== undefined) await this.goLive(attachment)
  }
}
