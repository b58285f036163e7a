/**
 * The open requests between one client and one session: prompts that wait for their end, and permission requests that
 * wait for the client's answer.
 */
import { z } from 'zod'
import { ParleyError, rpcCodeOf } from '../../../../errors/parley-error.ts'
import {
  type RequestId,
  errorMessage,
  failureMessage,
  resultMessage,
  type Response,
  notificationMessage,
  requestMessage,
  type PendingRequests,
} from '../../../../rpc/json-rpc.ts'
import type { EndedPrompt, QueuedPrompt, OpenQuestion } from '../../../../session/domain/state.ts'
import { type ClientAnswer, type SessionView, isOpenIn } from '../../../../session/handle.ts'
import { callOut, stopReasonOut } from '../render/entry-to-update.ts'

/** A prompt of this client's former connection, and the request that still waits for its end. */
export interface AdoptedPrompt {
  readonly promptId: string
  readonly requestId: RequestId
}

/** The prompts of one client in one session that have not ended, and the requests that wait for their ends. Each is answered once. */
export class PendingPrompts {
  readonly #sessionId: string
  readonly #waiting = new Map<string, readonly RequestId[]>()
  /** All that this client has sent or adopted, ended ones included. */
  readonly #own = new Set<string>()
  /** Prompts that are being stored: their own request is answered if that fails. */
  readonly #storing = new Set<string>()
  /** False while a prompt may have ended before this client subscribed: then no entry will say so. */
  #endsAreChecked = true

  constructor(sessionId: string) {
    this.#sessionId = sessionId
  }

  get isEmpty(): boolean {
    return this.#waiting.size === 0
  }

  get ids(): readonly string[] {
    return [...this.#waiting.keys()]
  }

  has(promptId: string): boolean {
    return this.#waiting.has(promptId)
  }

  /** Whether this client has sent or adopted it, also when it has ended. */
  isOwn(promptId: string): boolean {
    return this.#own.has(promptId)
  }

  /** The prompt whose end this request waits for. */
  of(requestId: RequestId): string | undefined {
    return this.ids.find((promptId) => this.#waiting.get(promptId)?.includes(requestId))
  }

  /** How many requests wait for its end. */
  waitingFor(promptId: string): number {
    return this.#waiting.get(promptId)?.length ?? 0
  }

  /** From now on the end of `promptId` answers `requestId`. */
  wait(promptId: string, requestId: RequestId): void {
    this.#own.add(promptId)
    this.#waiting.set(promptId, [...(this.#waiting.get(promptId) ?? []), requestId])
  }

  /** A prompt may have ended before this client subscribed: `answersOfEnded` answers it with the next view. */
  checkEnds(): void {
    this.#endsAreChecked = false
  }

  beginStoring(promptId: string): void {
    this.#storing.add(promptId)
  }

  /** From now on its end is an entry. */
  stored(promptId: string): void {
    this.#storing.delete(promptId)
  }

  /** The request no longer waits; false when it has been answered already. */
  refused(promptId: string, requestId: RequestId): boolean {
    this.#storing.delete(promptId)
    const waiting = this.#waiting.get(promptId) ?? []
    const others = waiting.filter((id) => id !== requestId)
    if (others.length === 0) this.#waiting.delete(promptId)
    else this.#waiting.set(promptId, others)
    return others.length < waiting.length
  }

  /** The responses to the requests that wait for this end. */
  answers({ promptId, stopReason, error }: EndedPrompt): readonly string[] {
    return this.#take(promptId, (id) => {
      switch (stopReason) {
        case 'interrupted':
          return errorMessage(id, new ParleyError('TURN_INTERRUPTED', { session: this.#sessionId }))
        case 'error':
          return failureMessage(id, failed(error ?? { code: 'AGENT_FAILED', message: 'The agent failed.' }))
        case 'withdrawn':
          return resultMessage(id, { stopReason: 'cancelled' })
        default:
          return resultMessage(id, { stopReason: stopReasonOut(stopReason) })
      }
    })
  }

  /** The responses for prompts that ended before this client subscribed. */
  answersOfEnded(view: SessionView): readonly string[] {
    if (this.#endsAreChecked) return []
    this.#endsAreChecked = true
    const ended = this.#stored().filter((promptId) => !isOpenIn(view, promptId))
    return ended.flatMap((promptId) => this.#lateAnswers(promptId, view))
  }

  /** The session is deleted, and with it the ends of these prompts: closing it has cancelled them. */
  answersOfDeleted(): readonly string[] {
    return this.ids.flatMap((promptId) => this.answers({ promptId, stopReason: 'withdrawn' }))
  }

  /** A turn's end could not be stored. The prompts of `queue` still get their turn. */
  answersOfFailed(error: ParleyError, queue: readonly QueuedPrompt[]): readonly string[] {
    const lost = this.#stored().filter((id) => !queue.some(({ promptId }) => promptId === id))
    return lost.flatMap((promptId) => this.#failures(promptId, error))
  }

  /** The client gets no more entries of the session: each prompt is answered with its end if it has one, else with the error. */
  answersOfAbandoned(error: ParleyError, view: SessionView | undefined): readonly string[] {
    return this.#stored().flatMap((promptId) =>
      view === undefined || isOpenIn(view, promptId)
        ? this.#failures(promptId, error)
        : this.#lateAnswers(promptId, view),
    )
  }

  #stored(): readonly string[] {
    return this.ids.filter((promptId) => !this.#storing.has(promptId))
  }

  /** A prompt that the session does not know was never accepted. */
  #lateAnswers(promptId: string, { recentPrompts }: SessionView): readonly string[] {
    const ended = recentPrompts.findLast((prompt) => prompt.promptId === promptId)
    return this.answers(ended ?? { promptId, stopReason: 'interrupted' })
  }

  #failures(promptId: string, error: ParleyError): readonly string[] {
    return this.#take(promptId, (id) => errorMessage(id, error))
  }

  #take(promptId: string, answer: (id: RequestId) => string): readonly string[] {
    const requestIds = this.#waiting.get(promptId) ?? []
    this.#waiting.delete(promptId)
    return requestIds.map(answer)
  }
}

/** As the catalogue has it, so that a client sees by the number that a login is needed. */
function failed({ code, message, details }: NonNullable<EndedPrompt['error']>) {
  return { code, message, rpc: rpcCodeOf(code), ...(details !== undefined && { details }) }
}

/** The client to which it is sent. */
interface AskedClient {
  readonly sessionId: string
  readonly requests: PendingRequests
}

/** What it is asked. */
interface AskedQuestion {
  readonly question: OpenQuestion
  readonly turn: SessionView['turn']
}

/** One permission request to one client: an answer to it becomes an outcome, and it is withdrawn when another client was first. */
class PermissionRequest {
  /** The request, to be sent once. */
  readonly messages: readonly string[]
  readonly #rpcId: string
  readonly #requests: PendingRequests
  #isWithdrawn = false

  constructor(
    { question, turn }: AskedQuestion,
    { sessionId, requests }: AskedClient,
    answered: (outcome: ClientAnswer) => void,
  ) {
    const { requestId, toolCallId, call, options } = question
    this.#requests = requests
    this.#rpcId = requests.open((response) => answered(outcomeOf(question, response)))
    const toolCall = { ...callOut(call, () => false), toolCallId }
    const _meta = { 'parley/requestId': requestId, ...(turn && { 'parley/turn': turn.turnId }) }
    const params = { sessionId, toolCall, options, _meta }
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
    { questions, turn }: Pick<SessionView, 'questions' | 'turn'>,
    answered: (requestId: string, outcome: ClientAnswer) => void,
  ): readonly string[] {
    const isOpen = new Set(questions.map(({ requestId }) => requestId))
    const gone = [...this.#open.keys()].filter((requestId) => !isOpen.has(requestId))
    const asked = questions
      .filter(({ requestId }) => !this.#open.has(requestId))
      .flatMap((question) => {
        const { requestId } = question
        const request = new PermissionRequest({ question, turn }, this.#client, (outcome) =>
          answered(requestId, outcome),
        )
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

const permissionResult = z.object({
  outcome: z.union([
    z.object({ outcome: z.literal('selected'), optionId: z.string() }),
    z.object({ outcome: z.literal('cancelled') }),
  ]),
})

/** The response to a permission request: an option, a refusal to choose, or something that is no answer. */
type PermissionAnswer =
  | { readonly kind: 'option'; readonly optionId: string }
  | { readonly kind: 'dismissed' }
  | { readonly kind: 'no answer' }

/** Never throws: a response that cannot be read counts as no answer. */
function parsePermissionAnswer({ result, error }: Response): PermissionAnswer {
  const parsed = error === undefined ? permissionResult.safeParse(result) : undefined
  if (parsed?.success !== true) return { kind: 'no answer' }
  const chosen = parsed.data.outcome
  return chosen.outcome === 'selected' ? { kind: 'option', optionId: chosen.optionId } : { kind: 'dismissed' }
}

/** Only an option that was offered counts; everything else never allows anything. */
function outcomeOf({ call, options }: OpenQuestion, response: Response): ClientAnswer {
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
