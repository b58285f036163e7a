/** One connection's views of sessions, at most one of each; a view follows its session when that is opened anew. */
import { type ParleyError, fail } from '../../../../errors/parley-error.ts'
import type { Session } from '../../../../session/session.ts'
import type { SessionRegistry } from '../../../../session/registry.ts'
import { Attachment, type ConnectedClient, type Start } from './attachment.ts'

export interface AttachmentsHost {
  readonly sessions: Pick<SessionRegistry, 'whenOpened'>
  readonly client: ConnectedClient
}

export class Attachments {
  readonly #client: ConnectedClient
  readonly #views = new Map<string, Attachment>()
  /** Where views that are still being replayed go on afterwards. */
  readonly #next = new Map<string, Session>()
  readonly #unwatch: () => void
  #isDetached = false

  constructor({ sessions, client }: AttachmentsHost) {
    this.#client = client
    this.#unwatch = sessions.whenOpened((session) => this.#follow(session))
  }

  get(sessionId: string): Attachment | undefined {
    return this.#views.get(sessionId)
  }

  all(): readonly Attachment[] {
    return [...this.#views.values()]
  }

  /** Opening a session again on the same connection replaces the view of it, never adds a second. Throws CLIENT_GONE. */
  attach(session: Session, start: Start): Attachment {
    if (this.#isDetached) fail('CLIENT_GONE', { method: 'session/load' })
    const former = this.#views.get(session.id)
    const attachment = new Attachment(session, this.#client, start)
    if (former !== undefined) {
      attachment.inherit(former)
      former.detach()
    }
    this.#next.delete(session.id)
    this.#views.set(session.id, attachment)
    return attachment
  }

  /** From here on everything as it is stored. */
  async goLive(attachment: Attachment): Promise<void> {
    await attachment.goLive()
    const next = this.#next.get(attachment.session.id)
    if (next !== undefined) this.#follow(next)
  }

  /** Each prompt that waits is answered with its end, or with this. */
  abandon(sessionId: string, error: ParleyError): void {
    this.#views.get(sessionId)?.abandon(error)
    this.#views.delete(sessionId)
    this.#next.delete(sessionId)
  }

  abandonAll(error: ParleyError): void {
    for (const sessionId of this.#views.keys()) this.abandon(sessionId, error)
  }

  /** The client is gone. */
  detach(): void {
    this.#isDetached = true
    this.#unwatch()
    for (const attachment of this.#views.values()) attachment.detach()
    this.#views.clear()
    this.#next.clear()
  }

  /**
   * Another client closed it, or another writer took it, and now somebody has opened it again: who watched it goes on seeing
   * it, from its cursor on.
   */
  #follow(session: Session): void {
    const former = this.#views.get(session.id)
    if (former === undefined || former.session === session || session.isDisposed) return
    if (!former.isLive) {
      this.#next.set(session.id, session)
      return
    }
    const attachment = this.attach(session, former.start)
    this.goLive(attachment).catch((error: unknown) => this.#client.report(error))
  }
}
