/** What an agent says and asks on its own account: updates, notices, questions, and what it wants done. */
import type { Attachments } from '../sessions/attachments.ts'
import { fieldsOf } from '../initialize/capabilities.ts'
import type { GuardedFace } from '../client-delegate.ts'
import { noticeOf } from './notices.ts'
import type { Peer, RequestId } from '../connection/json-rpc-peer.ts'
import type { Questions, Withdrawal } from './permission-requests.ts'
import { type Services, serve } from './client-methods.ts'
import type { KnownSettings } from '../sessions/settings.ts'
import { type LastWords, ShownTerminals, lastWordsOf } from '../transcript/shown-terminals.ts'
import type { UpdateParams } from './updates.ts'
import { updateIn } from './sanitize.ts'

/** Whom it concerns. */
export interface Listeners {
  readonly face: GuardedFace
  readonly questions: Questions
  readonly attachments: Attachments
  readonly settings: KnownSettings
  readonly services: Services
  /** The connection that talks to us. */
  peer(): Peer | undefined
  /** The directories of a session that is being made: an agent may ask before we know its id. */
  creating(): readonly string[] | undefined
  /** It has said who it is, and is no Parley server. */
  isStranger(): boolean
  /** The server has said that it ends. */
  stopping(): void
}

export class Hearing {
  readonly #to: Listeners
  readonly #terminals = new ShownTerminals()
  /** Requests of the agent that we are at. */
  readonly #serving = new Map<RequestId, AbortController>()

  constructor(to: Listeners) {
    this.#to = to
  }

  notified(method: string, params: unknown): void {
    const { attachments, face } = this.#to
    if (method === 'session/update') return this.#told(updateIn(params))
    if (method === '$/cancel_request') return this.#withdrawn(fieldsOf(params)['requestId'] as RequestId)
    if (method === '_parley/server') return this.#to.stopping()
    const notice = noticeOf(method, params, (promptId) => attachments.isMine(promptId))
    if (notice === undefined) return
    if (notice.kind === 'turn') attachments.stands(notice.sessionId, notice.phase)
    face.noticed(notice)
  }

  /** False when nobody here does such a thing. */
  requested(id: RequestId, method: string, params: unknown): boolean {
    if (method !== 'session/request_permission') return this.#serve(id, method, params)
    this.#to.questions.put(id, params)
    return true
  }

  /** The connection is gone, and with it whoever waited for an answer. */
  disconnected(): void {
    this.#to.questions.disconnect()
    for (const one of this.#serving.values()) one.abort('disconnected' satisfies Withdrawal)
  }

  #withdrawn(id: RequestId): void {
    this.#to.questions.withdraw(id)
    this.#serving.get(id)?.abort('elsewhere' satisfies Withdrawal)
  }

  #told(update: UpdateParams | undefined): void {
    if (update === undefined || this.#isForeign(update.sessionId)) return
    const { attachments, settings, face } = this.#to
    attachments.seen(update)
    settings.changed(update.sessionId, update.update)
    face.updated(this.#terminals.seen(update))
  }

  /** A server of ours tells of a session's end after we have left it; another agent has nothing to say of what we did not open. */
  #isForeign(sessionId: string): boolean {
    const isOpen = this.#to.creating() !== undefined || this.#to.attachments.rootsOf(sessionId) !== undefined
    return this.#to.isStranger() && !isOpen
  }

  #serve(id: RequestId, method: string, params: unknown): boolean {
    const { services, attachments } = this.#to
    const peer = this.#to.peer()
    const rootsOf = (sessionId: string) => attachments.rootsOf(sessionId) ?? this.#to.creating()
    // What it has said is read before it goes.
    const words = method === 'terminal/release' ? lastWordsOf(services, params) : undefined
    const withdrawn = new AbortController()
    const served = serve(services, rootsOf, { method, params, withdrawn: withdrawn.signal })
    if (served !== undefined) this.#serving.set(id, withdrawn)
    void served?.then((answer) => {
      this.#serving.delete(id)
      peer?.reply(id, answer)
    })
    void words?.then((said) => said && this.#released(said))
    return served !== undefined
  }

  #released({ terminalId, output }: LastWords): void {
    for (const params of this.#terminals.released(terminalId, output)) this.#to.face.updated(params)
  }
}
