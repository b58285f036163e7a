/** Requests to one client about one session: after all that it must know before, and never waited for in vain. */
import { ParleyError } from '../../../../errors/parley-error.ts'
import type { Signal } from '../../../../ports/signal.ts'
import { type ResponseError, notificationMessage, requestMessage, singleLine } from '../../../../rpc/json-rpc.ts'
import type { PendingRequests } from '../../../../rpc/pending-requests.ts'

/** The view that the client has of the session now. */
export interface RequestPosition {
  /** The last entry that is stored. */
  head(): number
  /** Whether the client has been told everything up to this entry. */
  knows(seq: number): boolean
}

interface Waiting {
  readonly after: number
  readonly message: string
}

export interface OrderedRequest {
  readonly method: string
  readonly params: object
  /** What comes although nobody waits for it any more. */
  readonly late?: (result: unknown) => void
}

export class OrderedRequests {
  readonly #outbox: PendingRequests
  readonly #send: (messages: readonly string[]) => void
  readonly #gone = new AbortController()
  readonly #open = new Set<() => void>()
  #place: RequestPosition | undefined
  #waiting: readonly Waiting[] = []

  constructor(outbox: PendingRequests, send: (messages: readonly string[]) => void) {
    this.#outbox = outbox
    this.#send = send
  }

  /** Aborts when the client has left. */
  get gone(): Signal {
    return this.#gone.signal
  }

  /** From now on this is the client's view of the session. */
  follow(place: RequestPosition): void {
    this.#place = place
  }

  /** What has waited for the client to be told what comes before it. */
  due(): readonly string[] {
    const due = this.#waiting.filter(({ after }) => this.#knows(after))
    this.#waiting = this.#waiting.filter((one) => !due.includes(one))
    return due.map(({ message }) => message)
  }

  /** Rejects with CLIENT_GONE, CLIENT_CANCELLED or CLIENT_REFUSED. */
  ask({ method, params, late }: OrderedRequest, signal: Signal): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.#gone.signal.aborted) return reject(new ParleyError('CLIENT_GONE', { method }))
      if (signal.aborted) return reject(new ParleyError('CLIENT_CANCELLED', { method }))
      let isOver = false
      const over = (): void => {
        isOver = true
        this.#open.delete(gone)
        signal.removeEventListener('abort', cancelled)
      }
      const gone = (): void => {
        over()
        reject(new ParleyError('CLIENT_GONE', { method }))
      }
      const id = this.#outbox.open((reply) => {
        if (isOver) return late?.(reply.error === undefined ? reply.result : undefined)
        over()
        if (reply.error !== undefined) reject(refusal(method, reply.error))
        else resolve(reply.result)
      })
      const message = requestMessage(id, method, params)
      const cancelled = (): void => {
        over()
        this.#withdraw(id, { message, isKept: late !== undefined })
        reject(new ParleyError('CLIENT_CANCELLED', { method }))
      }
      this.#open.add(gone)
      signal.addEventListener('abort', cancelled, { once: true })
      this.#say(message)
    })
  }

  /** Something that no answer is waited for. */
  request(method: string, params: object): void {
    if (this.#gone.signal.aborted) return
    const nobody = (): void => {}
    this.#say(requestMessage(this.#outbox.open(nobody), method, params))
  }

  notify(method: string, params: object): void {
    if (!this.#gone.signal.aborted) this.#say(notificationMessage(method, params))
  }

  /** The client has left: whoever waits for it hears so at once. Idempotent. */
  leave(): void {
    this.#waiting = []
    for (const gone of this.#open) gone()
    this.#gone.abort()
  }

  /** What was never sent need not be taken back. */
  #withdraw(id: string, { message, isKept }: { readonly message: string; readonly isKept: boolean }): void {
    const unsent = this.#waiting.filter((one) => one.message !== message)
    const wasSent = unsent.length === this.#waiting.length
    this.#waiting = unsent
    if (!isKept || !wasSent) this.#outbox.withdraw(id)
    if (wasSent) this.#send([notificationMessage('$/cancel_request', { requestId: id })])
  }

  /** The same road as the entries, so that nothing is asked about a call that the client has not heard of. */
  #say(message: string): void {
    const after = this.#place?.head() ?? 0
    if (this.#waiting.length === 0 && this.#knows(after)) return this.#send([message])
    this.#waiting = [...this.#waiting, { after, message }]
  }

  #knows(seq: number): boolean {
    return this.#place?.knows(seq) ?? true
  }
}

function refusal(method: string, { message = 'it did not say why' }: ResponseError): ParleyError {
  return new ParleyError('CLIENT_REFUSED', { method, reason: singleLine(message) })
}
