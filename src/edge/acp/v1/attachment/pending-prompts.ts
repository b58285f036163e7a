/** The prompts of one connection that wait for their end, and the requests that wait with them: each is answered once. */
import { ParleyError } from '../../../../errors/parley-error.ts'
import type { Session } from '../../../../session/session.ts'
import { type EndedPrompt, isBusy, isOpenPrompt } from '../../../../session/domain/state.ts'
import { type RequestId, errorMessage, failureMessage, resultMessage } from '../../../../rpc/json-rpc.ts'

/** A prompt of this client's former connection, and the request that still waits for its end. */
export interface AdoptedPrompt {
  readonly promptId: string
  readonly requestId: RequestId
}

export class PendingPrompts {
  readonly #session: Session
  readonly #waiting = new Map<string, readonly RequestId[]>()
  /** Those that are still being stored: whoever stores them says so if that fails. */
  readonly #arriving = new Set<string>()
  /** None is left that ended before this view began. */
  #isSettled = true

  constructor(session: Session) {
    this.#session = session
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

  isArriving(promptId: string): boolean {
    return this.#arriving.has(promptId)
  }

  /** The prompt that this request waits for. */
  of(requestId: RequestId): string | undefined {
    return this.ids.find((promptId) => this.#waiting.get(promptId)?.includes(requestId))
  }

  /** How many requests wait for it. */
  waitingFor(promptId: string): number {
    return this.#waiting.get(promptId)?.length ?? 0
  }

  /** The end of one may lie before this view: no entry will tell of it. */
  mayBeOver(): void {
    this.#isSettled = false
  }

  /** From now on the end of `promptId` answers `requestId`. */
  wait(promptId: string, requestId: RequestId): void {
    this.#waiting.set(promptId, [...(this.#waiting.get(promptId) ?? []), requestId])
  }

  arrives(promptId: string): void {
    this.#arriving.add(promptId)
  }

  /** The prompt is stored: its end is an entry. */
  accepted(promptId: string): void {
    this.#arriving.delete(promptId)
  }

  /** The request was refused and waits no longer; false when it has been answered already. */
  refused(promptId: string, requestId: RequestId): boolean {
    this.#arriving.delete(promptId)
    const waiting = this.#waiting.get(promptId) ?? []
    const others = waiting.filter((id) => id !== requestId)
    if (others.length === 0) this.#waiting.delete(promptId)
    else this.#waiting.set(promptId, others)
    return others.length < waiting.length
  }

  /** Takes over all that `former` waits for. */
  inherit(former: PendingPrompts): void {
    for (const [promptId, requestIds] of former.#waiting) this.#waiting.set(promptId, requestIds)
    for (const promptId of former.#arriving) this.#arriving.add(promptId)
    former.#waiting.clear()
    former.#arriving.clear()
    this.mayBeOver()
  }

  /** The messages that answer the requests of this prompt, if any wait. */
  answers({ promptId, stopReason, error }: EndedPrompt): readonly string[] {
    return this.#take(promptId, (id) => {
      switch (stopReason) {
        case 'interrupted':
          return errorMessage(id, new ParleyError('TURN_INTERRUPTED', { session: this.#session.id }))
        case 'error':
          return failureMessage(id, error ?? { code: 'AGENT_FAILED', message: 'The agent failed.' })
        case 'withdrawn':
          return resultMessage(id, { stopReason: 'cancelled' })
        default:
          return resultMessage(id, { stopReason: stopReason === 'max_steps' ? 'max_turn_requests' : stopReason })
      }
    })
  }

  /** Answers those whose end came before this view began. */
  answersOfWhatIsOver(): readonly string[] {
    if (this.#isSettled) return []
    this.#isSettled = true
    const { state } = this.#session
    const over = this.ids.filter((id) => !this.isArriving(id) && !isOpenPrompt(id, state))
    return over.flatMap((promptId) => this.#lateAnswers(promptId))
  }

  /** The session is deleted: nothing is left that could tell of the ends of these, which its closing cancelled. */
  answersOfLost(): readonly string[] {
    return this.ids.flatMap((promptId) => this.answers({ promptId, stopReason: 'withdrawn' }))
  }

  /** Tells those whose end could not be stored. */
  answersOfFailed(error: ParleyError): readonly string[] {
    const lost = this.ids.filter((promptId) => !this.#stillComes(promptId))
    return lost.flatMap((promptId) => this.#failures(promptId, error))
  }

  /** The client hears no more of the session: each is answered with its end, or with this. */
  answersOfAbandoned(error: ParleyError): readonly string[] {
    const { state } = this.#session
    const waiting = this.ids.filter((promptId) => !this.isArriving(promptId))
    return waiting.flatMap((promptId) =>
      isOpenPrompt(promptId, state) ? this.#failures(promptId, error) : this.#lateAnswers(promptId),
    )
  }

  /** A prompt that waits in the queue has its turn, whatever became of the one before it. */
  #stillComes(promptId: string): boolean {
    const { state, isDisposed: isGone } = this.#session
    const isQueued = isBusy(state) && state.queue.some((queued) => queued.promptId === promptId)
    return this.isArriving(promptId) || (isQueued && !isGone)
  }

  /** What the session does not know was never accepted. */
  #lateAnswers(promptId: string): readonly string[] {
    const ended = this.#session.requireCreated.recentPrompts.findLast((prompt) => prompt.promptId === promptId)
    return this.answers(ended ?? { promptId, stopReason: 'interrupted' })
  }

  /** The messages that tell the requests of this prompt what went wrong. */
  #failures(promptId: string, error: ParleyError): readonly string[] {
    return this.#take(promptId, (id) => errorMessage(id, error))
  }

  #take(promptId: string, messageFor: (id: RequestId) => string): readonly string[] {
    const requestIds = this.#waiting.get(promptId) ?? []
    this.#waiting.delete(promptId)
    return requestIds.map(messageFor)
  }
}
