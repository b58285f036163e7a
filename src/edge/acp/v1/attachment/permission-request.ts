/** One permission request to one client: an answer to it becomes an outcome, and it is withdrawn when another client was first. */
import { type Response, notificationMessage, requestMessage, type PendingRequests } from '../../../../rpc/json-rpc.ts'
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

class PermissionRequest {
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
    const { toolCallId, call, options } = question
    this.#requests = requests
    this.#rpcId = requests.open((response) => answered(outcomeOf(question, response)))
    const params = { sessionId, toolCall: { ...callOut(call, () => false), toolCallId }, options }
    this.messages = [requestMessage(this.#rpcId, 'session/request_permission', params)]
  }

  /** The message that withdraws the request; none when the client has answered it. */
  withdraw(): readonly string[] {
    if (this.#isWithdrawn) return []
    this.#isWithdrawn = true
    const isUnanswered = this.#requests.withdraw(this.#rpcId)
    return isUnanswered ? [notificationMessage('$/cancel_request', { requestId: this.#rpcId })] : []
  }
}

/** The permission requests that were sent to one client and are not done with. */
export class OpenPermissionRequests {
  readonly #client: AskedClient
  readonly #open = new Map<string, PermissionRequest>()

  constructor(client: AskedClient) {
    this.#client = client
  }

  get isEmpty(): boolean {
    return this.#open.size === 0
  }

  /** The messages that ask the client what it has not been asked yet, and withdraw what is no longer open. */
  ask(
    questions: readonly OpenQuestion[],
    answered: (requestId: string, outcome: PermissionOutcome) => void,
  ): readonly string[] {
    const isOpen = new Set(questions.map(({ requestId }) => requestId))
    const gone = [...this.#open.keys()].filter((requestId) => !isOpen.has(requestId))
    const asked = questions
      .filter(({ requestId }) => !this.#open.has(requestId))
      .flatMap((question) => {
        const { requestId } = question
        const request = new PermissionRequest(question, this.#client, (outcome) => answered(requestId, outcome))
        this.#open.set(requestId, request)
        return request.messages
      })
    return [...gone.flatMap((requestId) => this.withdraw(requestId)), ...asked]
  }

  /** The messages that withdraw this request, or all of them; none for one that the client has answered. */
  withdraw(requestId?: string): readonly string[] {
    const gone = requestId === undefined ? [...this.#open.keys()] : [requestId]
    return gone.flatMap((id) => {
      const messages = this.#open.get(id)?.withdraw() ?? []
      this.#open.delete(id)
      return messages
    })
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
