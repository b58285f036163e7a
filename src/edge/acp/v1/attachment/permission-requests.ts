/** One client's part in a session's questions: it is asked, its answer is brought in, and it hears when that is no longer wanted. */
import { isParleyError } from '../../../../errors/parley-error.ts'
import type { Session } from '../../../../session/session.ts'
import { type OpenQuestion, openQuestion } from '../../../../session/domain/state.ts'
import { callOut } from '../render/entry-to-update.ts'
import { type Response, notificationMessage, requestMessage } from '../../../../rpc/json-rpc.ts'
import { type PermissionAnswer, parsePermissionAnswer } from '../methods/params.ts'
import type { PendingRequests } from '../../../../rpc/pending-requests.ts'

export interface PermissionRequestsHost {
  readonly session: Session
  readonly outbox: PendingRequests
  /** What this client calls itself. */
  readonly name: string
  /** This client has none, and why people should know of it. */
  decline(requestId: string, why?: string): Promise<void>
  report(error: unknown): void
}

interface Asked {
  readonly requestId: string
  readonly rpcId: string
}

export class PermissionRequests {
  readonly #side: PermissionRequestsHost
  /** The question that this client was last asked, also when it has answered: nobody is asked twice. */
  #asked: Asked | undefined

  constructor(side: PermissionRequestsHost) {
    this.#side = side
  }

  /** Whether a question stands between this client and its answer. */
  get isOpen(): boolean {
    return this.#asked !== undefined
  }

  /** The message that puts the session's open question to the client, if there is one that it has not been asked. */
  ask(): readonly string[] {
    const { session, outbox } = this.#side
    const question = openQuestion(session.state)
    if (question === undefined || this.#asked?.requestId === question.requestId) return []
    const rpcId = outbox.open((reply) => this.#answered(question, reply))
    this.#asked = { requestId: question.requestId, rpcId }
    return [requestMessage(rpcId, 'session/request_permission', permissionParams(session.id, question))]
  }

  /** The message that takes the question back; nothing when the client has answered it itself, or was never asked. */
  withdraw(requestId?: string): readonly string[] {
    const asked = this.#asked
    if (asked === undefined || (requestId !== undefined && asked.requestId !== requestId)) return []
    this.#asked = undefined
    const isUnanswered = this.#side.outbox.withdraw(asked.rpcId)
    return isUnanswered ? [notificationMessage('$/cancel_request', { requestId: asked.rpcId })] : []
  }

  #answered(question: OpenQuestion, reply: Response): void {
    this.#bringIn(question, parsePermissionAnswer(reply)).catch((error: unknown) => {
      // Somebody else was first, or the session has closed meanwhile, which is how it should be.
      const comesTooLate = isParleyError(error, 'PERMISSION_UNKNOWN') || isParleyError(error, 'SESSION_CLOSED')
      if (!comesTooLate) this.#side.report(error)
    })
  }

  async #bringIn({ requestId, call, options }: OpenQuestion, answer: PermissionAnswer): Promise<void> {
    const what = call.title ?? 'it'
    switch (answer.kind) {
      case 'dismissed':
        return this.#side.decline(requestId)
      case 'no answer':
        return this.#side.decline(
          requestId,
          `Nothing was allowed: the client that was asked about “${what}” could not answer.`,
        )
      case 'option':
        if (!options.some(({ optionId }) => optionId === answer.optionId))
          return this.#side.decline(
            requestId,
            `Nothing was allowed: the answer about “${what}” was not one of those offered.`,
          )
        await this.#side.session.dispatch({
          kind: 'answer',
          requestId,
          optionId: answer.optionId,
          by: this.#side.name,
        })
    }
  }
}

function permissionParams(sessionId: string, { toolCallId, call, options }: OpenQuestion) {
  return { sessionId, toolCall: { ...callOut(call, () => false), toolCallId }, options }
}
