/**
 * Permission requests that wait for the user. Each is answered exactly once: by the user, a withdrawal, or the end of the
 * connection.
 */
import { type RequestId, fieldsOf } from '../../rpc/json-rpc.ts'
import { type PermissionOption, type ToolCallUpdate, callIn, optionsIn } from './updates.ts'

export interface PermissionQuestion {
  readonly sessionId: string
  readonly toolCall: ToolCallUpdate
  readonly options: readonly PermissionOption[]
  /** The id of the request on a Parley server, the same for all its clients. */
  readonly requestId?: string
  readonly turn?: string
}

/** Why a request is withdrawn: another client answered it, the turn was cancelled here, or the connection was lost. */
export type Withdrawal = 'elsewhere' | 'cancelled' | 'disconnected'

type Outcome = { readonly outcome: 'cancelled' } | { readonly outcome: 'selected'; readonly optionId: string }
type Ask = (question: PermissionQuestion, withdrawn: AbortSignal) => Promise<string | null>
type Answer = (id: RequestId, outcome: Outcome) => void

interface Open {
  readonly sessionId: string
  readonly withdrawn: AbortController
}

const CANCELLED: Outcome = { outcome: 'cancelled' }

export class PermissionRequests {
  readonly #ask: Ask
  readonly #answer: Answer
  readonly #open = new Map<RequestId, Open>()

  constructor(ask: Ask, answer: Answer) {
    this.#ask = ask
    this.#answer = answer
  }

  ask(id: RequestId, params: unknown): void {
    const question = questionOf(params)
    const open = { sessionId: question.sessionId, withdrawn: new AbortController() }
    this.#open.set(id, open)
    this.#ask(question, open.withdrawn.signal).then(
      (optionId) => this.#settle(id, open, optionId === null ? CANCELLED : { outcome: 'selected', optionId }),
      // A delegate that fails to ask has approved nothing.
      () => this.#settle(id, open, CANCELLED),
    )
  }

  /** The server no longer wants the answer. */
  withdraw(id: unknown): void {
    const open = this.#open.get(id as RequestId)
    open?.withdrawn.abort('elsewhere' satisfies Withdrawal)
    if (open !== undefined) this.#settle(id as RequestId, open, CANCELLED)
  }

  /** The connection is gone: nothing is answered, and the server asks the next client that attaches. */
  disconnect(): void {
    const open = [...this.#open.values()]
    this.#open.clear()
    for (const { withdrawn } of open) withdrawn.abort('disconnected' satisfies Withdrawal)
  }

  /** The turn is cancelled, and with it all requests of the session. */
  cancel(sessionId: string): void {
    for (const [id, open] of this.#open) if (open.sessionId === sessionId) this.#settle(id, open, CANCELLED)
  }

  #settle(id: RequestId, open: Open, outcome: Outcome): void {
    if (this.#open.get(id) !== open) return
    this.#open.delete(id)
    this.#answer(id, outcome)
    open.withdrawn.abort('cancelled' satisfies Withdrawal)
  }
}

function questionOf(params: unknown): PermissionQuestion {
  const { sessionId, toolCall, options, _meta } = fieldsOf(params)
  const { 'parley/requestId': requestId, 'parley/turn': turn } = fieldsOf(_meta)
  return {
    sessionId: String(sessionId),
    toolCall: callIn(toolCall),
    options: optionsIn(options),
    ...(typeof requestId === 'string' && { requestId }),
    ...(typeof turn === 'string' && { turn }),
  }
}
