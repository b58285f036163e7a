/** One permission request to one client: an answer to it becomes an outcome, and it is withdrawn when another client was first. */
import { type Response, notificationMessage, requestMessage } from '../../../../rpc/json-rpc.ts'
import type { PendingRequests } from '../../../../rpc/pending-requests.ts'
import type { OpenQuestion } from '../../../../session/domain/state.ts'
import { callOut } from '../render/entry-to-update.ts'
import { type PermissionAnswer, parsePermissionAnswer } from '../methods/params.ts'

/** The option that the client chose; without one it declines, and `why` is what the user should read about that. */
export interface PermissionOutcome {
  readonly optionId?: string
  readonly why?: string
}

/** The client to which it is sent. */
export interface AskedClient {
  readonly sessionId: string
  readonly requests: PendingRequests
}

export class PermissionRequest {
  readonly requestId: string
  /** The request, to be sent once. */
  readonly messages: readonly string[]
  readonly #rpcId: string
  readonly #requests: PendingRequests
  #isWithdrawn = false

  constructor(
    question: OpenQuestion,
    { sessionId, requests }: AskedClient,
    answered: (outcome: PermissionOutcome) => void,
  ) {
    const { requestId, toolCallId, call, options } = question
    this.requestId = requestId
    this.#requests = requests
    this.#rpcId = requests.open((response) => answered(outcomeOf(question, response)))
    const params = { sessionId, toolCall: { ...callOut(call, () => false), toolCallId }, options }
    this.messages = [requestMessage(this.#rpcId, 'session/request_permission', params)]
  }

  get isWithdrawn(): boolean {
    return this.#isWithdrawn
  }

  /** The message that withdraws the request; none when the client has answered it. `requestId`: only if it is this request. */
  withdraw(requestId = this.requestId): readonly string[] {
    if (this.#isWithdrawn || requestId !== this.requestId) return []
    this.#isWithdrawn = true
    const isUnanswered = this.#requests.withdraw(this.#rpcId)
    return isUnanswered ? [notificationMessage('$/cancel_request', { requestId: this.#rpcId })] : []
  }
}

/** Only an option that was offered counts; everything else never allows anything. */
function outcomeOf({ call, options }: OpenQuestion, response: Response): PermissionOutcome {
  const answer: PermissionAnswer = parsePermissionAnswer(response)
  const what = call.title ?? 'it'
  switch (answer.kind) {
    case 'dismissed':
      return {}
    case 'no answer':
      return { why: `Nothing was allowed: the client that was asked about “${what}” could not answer.` }
    case 'option':
      return options.some(({ optionId }) => optionId === answer.optionId)
        ? { optionId: answer.optionId }
        : { why: `Nothing was allowed: the answer about “${what}” was not one of those offered.` }
  }
}
