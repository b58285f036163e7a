/** Requests to one client about one session: after all that it must know before, and never waited for in vain. */
import { ParleyError } from '../../../../errors/parley-error.ts'
import type { Signal } from '../../../../ports/signal.ts'
import type { PendingRequests, Reply } from '../../pending-requests.ts'
import { notificationLine, requestLine } from '../../protocol.ts'

/** The view that the client has of the session now. */
export interface RequestPosition {
  /** The last entry that is stored. */
  head(): number
  /** Whether the client has been told everything up to this entry. */
  knows(seq: number): boolean
}

interface Waiting {
  readonly after: number
  readonly line: string
}

export interface OrderedRequest {
  readonly method: string
  readonly params: object
  /** What comes although nobody waits for it any more. */
  readonly late?: (result: unknown) => void
}

export class OrderedRequests {
  readonly #outbox: PendingRequests
  readonly #send: (lines: string) => void
  readonly #gone = new AbortController()
  readonly #open = new Set<() => void>()
  #place: RequestPosition | undefined
  #waiting: readonly Waiting[] = []

  constructor(outbox: PendingRequests, send: (lines: string) => void) {
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
  due(): string {
    const due = this.#waiting.filter(({ after }) => this.#knows(after))
    this.#waiting = this.#waiting.filter((one) => !due.includes(one))
    return due.map(({ line }) => line).join('')
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
        if (isOver) return late?.(reply.failed ? undefined : reply.result)
        over()
        if (reply.failed) reject(refusal(method, reply))
        else resolve(reply.result)
      })
      const line = requestLine(id, method, params)
      const cancelled = (): void => {
        over()
        this.#withdraw(id, { line, isKept: late !== undefined })
        reject(new ParleyError('CLIENT_CANCELLED', { method }))
      }
      this.#open.add(gone)
      signal.addEventListener('abort', cancelled, { once: true })
      this.#say(line)
    })
  }

  /** Something that no answer is waited for. */
  request(method: string, params: object): void {
    if (this.#gone.signal.aborted) return
    const nobody = (): void => {}
    this.#say(requestLine(this.#outbox.open(nobody), method, params))
  }

  notify(method: string, params: object): void {
    if (!this.#gone.signal.aborted) this.#say(notificationLine(method, params))
  }

  /** The client has left: whoever waits for it hears so at once. Idempotent. */
  leave(): void {
    this.#waiting = []
    for (const gone of this.#open) gone()
    this.#gone.abort()
  }

  /** What was never sent need not be taken back. */
  #withdraw(id: string, { line, isKept }: { readonly line: string; readonly isKept: boolean }): void {
    const unsent = this.#waiting.filter((one) => one.line !== line)
    const wasSent = unsent.length === this.#waiting.length
    this.#waiting = unsent
    if (!isKept || !wasSent) this.#outbox.withdraw(id)
    if (wasSent) this.#send(notificationLine('$/cancel_request', { requestId: id }))
  }

  /** The same road as the entries, so that nothing is asked about a call that the client has not heard of. */
  #say(line: string): void {
    const after = this.#place?.head() ?? 0
    if (this.#waiting.length === 0 && this.#knows(after)) return this.#send(line)
    this.#waiting = [...this.#waiting, { after, line }]
  }

  #knows(seq: number): boolean {
    return this.#place?.knows(seq) ?? true
  }
}

function refusal(method: string, { reason = 'it did not say why' }: Reply): ParleyError {
  return new ParleyError('CLIENT_REFUSED', { method, reason })
}
