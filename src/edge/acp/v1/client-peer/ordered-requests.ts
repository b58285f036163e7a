/** Requests to one client about one session: sent after the entries that come before them, and ended when the client leaves. */
import { ParleyError } from '../../../../errors/parley-error.ts'
import type { Signal } from '../../../../ports/values/signal.ts'
import {
  type ResponseError,
  notificationMessage,
  requestMessage,
  singleLine,
  type PendingRequests,
} from '../../../../rpc/json-rpc.ts'
import type { Transport } from '../../../transport/transport.ts'

/** How far the client is in the session. */
export interface RequestPosition {
  /** The client has been sent everything that is stored. */
  readonly isUpToDate: boolean
}

export interface OrderedRequest {
  readonly method: string
  readonly params: object
  /** Takes the result that comes after the request was cancelled. */
  readonly late?: (result: unknown) => void
}

export class OrderedRequests {
  readonly #requests: PendingRequests
  readonly #transport: Pick<Transport, 'send'>
  readonly #gone = new AbortController()
  /** Ends each request that has no response yet. */
  readonly #open = new Set<() => void>()
  #position: RequestPosition | undefined
  #waiting: readonly string[] = []

  constructor(requests: PendingRequests, transport: Pick<Transport, 'send'>) {
    this.#requests = requests
    this.#transport = transport
  }

  /** Aborts when the client has left. */
  get gone(): Signal {
    return this.#gone.signal
  }

  /** From now on this attachment reports the client's position. */
  follow(position: RequestPosition): void {
    this.#position = position
  }

  /** The messages that had to wait for entries, once the client has these. */
  due(): readonly string[] {
    if (this.#position?.isUpToDate !== true) return []
    const due = this.#waiting
    this.#waiting = []
    return due
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
      const id = this.#requests.open((reply) => {
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
      this.#send(message)
    })
  }

  /** Sends a request whose response does not matter. */
  request(method: string, params: object): void {
    if (this.#gone.signal.aborted) return
    const ignore = (): void => {}
    this.#send(requestMessage(this.#requests.open(ignore), method, params))
  }

  notify(method: string, params: object): void {
    if (!this.#gone.signal.aborted) this.#send(notificationMessage(method, params))
  }

  /** The client has left: every open request rejects at once. Idempotent. */
  leave(): void {
    this.#waiting = []
    for (const gone of this.#open) gone()
    this.#gone.abort()
  }

  /** A request that was not sent yet needs no `$/cancel_request`. */
  #withdraw(id: string, { message, isKept }: { readonly message: string; readonly isKept: boolean }): void {
    const others = this.#waiting.filter((one) => one !== message)
    const wasSent = others.length === this.#waiting.length
    this.#waiting = others
    if (!isKept || !wasSent) this.#requests.withdraw(id)
    if (wasSent) this.#transport.send([notificationMessage('$/cancel_request', { requestId: id })])
  }

  /** Waits behind the entries: a request must not be about a tool call that the client has not received. */
  #send(message: string): void {
    if (this.#waiting.length === 0 && this.#position?.isUpToDate !== false) this.#transport.send([message])
    else this.#waiting = [...this.#waiting, message]
  }
}

function refusal(method: string, { message = 'it did not say why' }: ResponseError): ParleyError {
  return new ParleyError('CLIENT_REFUSED', { method, reason: singleLine(message) })
}
