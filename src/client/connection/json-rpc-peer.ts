/** JSON-RPC on one connection: requests with their responses, notifications, and the requests of the other side. */
import { CodedError } from '../../errors/coded-error.ts'
import {
  type ErrorToSend,
  type Message,
  type RequestId,
  type Response,
  errorMessage,
  notificationMessage,
  parseMessage,
  requestMessage,
  resultMessage,
  PendingRequests,
} from '../../rpc/json-rpc.ts'
import { ClientError } from '../client-error.ts'
import { type SilenceTimeout, SilenceWatch } from './silence-timeout.ts'
import type { ClientTransport } from './transport.ts'

/** Handles the messages of the other side. */
export interface PeerListener {
  notified(method: string, params: unknown): void
  /** True when the listener will answer the request; any other request is answered as unknown. */
  requested(id: RequestId, method: string, params: unknown): boolean
  /** Either side has closed; `why` when it was not wanted. Called before requests that wait are rejected. */
  ended(why?: CodedError): void
}

export type Reply = { readonly result: unknown } | { readonly error: ErrorToSend }

interface Waiter {
  readonly method: string
  readonly resolve: (result: unknown) => void
  readonly reject: (error: unknown) => void
}

const METHOD_NOT_FOUND = -32601

export class Peer {
  readonly #transport: ClientTransport
  readonly #listener: PeerListener
  readonly #pending = new PendingRequests<Waiter>('')
  readonly #silence: SilenceWatch | undefined
  #hasEnded = false
  /** Resolves when either side has closed. Never rejects. */
  readonly closed: Promise<void>

  /** Without `timeout`, a response is awaited for as long as the connection lasts. */
  constructor(transport: ClientTransport, listener: PeerListener, timeout?: SilenceTimeout) {
    this.#transport = transport
    this.#listener = listener
    this.#silence = timeout && new SilenceWatch(timeout, (why) => this.leave(why))
    this.closed = this.#read()
  }

  get hasEnded(): boolean {
    return this.#hasEnded
  }

  /**
   * The caller chooses the id, which must differ from all that it ever used, on other connections too. The result may be null.
   * Throws PEER_REFUSED with the other side's own code and sentence, or CONNECTION_LOST.
   */
  request(id: RequestId, method: string, params: unknown): Promise<unknown> {
    const result = this.expect(id, method)
    this.#send(requestMessage(id, method, params))
    return result
  }

  /** The result of a request that an earlier connection has carried. */
  expect(id: RequestId, method: string): Promise<unknown> {
    if (this.#hasEnded) return Promise.reject(new ClientError('CONNECTION_LOST', { method }))
    this.#silence?.requested(id, method)
    return new Promise((resolve, reject) => this.#pending.expect(id, { method, resolve, reject }))
  }

  notify(method: string, params: unknown): void {
    this.#send(notificationMessage(method, params))
  }

  reply(id: RequestId, reply: Reply): void {
    this.#silence?.answered(id)
    this.#send('error' in reply ? errorMessage(id, reply.error) : resultMessage(id, reply.result))
  }

  /** Closes the connection; requests that wait are rejected, with `why` if that is given. Idempotent. */
  leave(why?: CodedError): void {
    this.#end(why)
    this.#transport.close()
  }

  async #read(): Promise<void> {
    try {
      for await (const text of this.#transport.messages) this.#take(text)
      this.#end()
    } catch (error) {
      // A connection that breaks has ended. Its reason counts only when it is ours, such as a message that is too long.
      this.leave(error instanceof CodedError ? error : undefined)
    }
  }

  /** A fault of our own code is reported as such, not as a connection that broke. */
  #take(text: string): void {
    try {
      this.#receive(text)
    } catch (error) {
      this.leave(error instanceof CodedError ? error : new ClientError('INTERNAL_ERROR', {}, error))
    }
  }

  /** A text that is no message is skipped: stray output of the other side must not end the conversation. */
  #receive(text: string): void {
    const message = parseMessage(text, 'lenient')
    if (message.kind === 'unreadable' || this.#hasEnded) return
    this.#silence?.received()
    this.#handle(message)
  }

  #handle(message: Message): void {
    switch (message.kind) {
      case 'response':
        return this.#responded(message)
      case 'notification':
        return this.#listener.notified(message.method, message.params)
      case 'request': {
        const { id, method, params } = message
        this.#silence?.owes(id)
        if (!this.#listener.requested(id, method, params)) this.reply(id, { error: unknownMethod(method) })
      }
    }
  }

  #responded({ id, result, error }: Response): void {
    const waiter = this.#pending.take(id)
    if (waiter === undefined) return
    this.#silence?.responded(id)
    if (error === undefined) return waiter.resolve(result)
    const { code, message = 'the other side gave no reason' } = error
    waiter.reject(new ClientError('PEER_REFUSED', { method: waiter.method, code, reason: message }))
  }

  #end(why?: CodedError): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    this.#silence?.end()
    this.#listener.ended(why)
    for (const { method, reject } of this.#pending.takeAll())
      reject(why ?? new ClientError('CONNECTION_LOST', { method }))
  }

  #send(message: string): void {
    if (!this.#hasEnded) this.#transport.send(message)
  }
}

function unknownMethod(method: string): ErrorToSend {
  const message = `Method not found: ${method}`
  return { code: 'METHOD_UNKNOWN', rpc: METHOD_NOT_FOUND, message, retryable: false, details: {} }
}
