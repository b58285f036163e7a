/** The owner's end of a session that a client has open through another node: an ACP connection that can be asked to leave. */
import type { Received, Transport } from '../../../edge/transport/transport.ts'
import { type RequestId, fieldsOf, notificationMessage, parseMessage } from '../../../rpc/json-rpc.ts'

/** To the front: the request has opened its session. */
export const OPENED = '_parley/opened'
/** To the front: send nothing more, the session moves. And its answer, after which nothing comes. */
const MOVING = notificationMessage('_parley/server', { state: 'moving' })
const MOVED = '_parley/moved'
/** Their answers name the session. */
const CREATING = /"method":\s*"session\/(?:new|fork)"/u

const RESPONSE = '{"jsonrpc":"2.0","id":'

export class SessionEnd implements Transport {
  /** Undefined while it is being made. */
  session: string | undefined
  readonly #transport: Transport
  /** The request that makes it. */
  #making: RequestId | undefined
  #whenMade: (() => void)[] = []

  constructor(transport: Transport, session: string | undefined) {
    this.#transport = transport
    this.session = session
  }

  get messages(): AsyncIterable<readonly Received[]> {
    return this.#messages()
  }

  /** Resolves once the client has the id of the session that is being made here, if one is. */
  async made(): Promise<void> {
    if (this.#making !== undefined) await new Promise<void>((resolve) => this.#whenMade.push(resolve))
  }

  /** The front sends nothing more, and goes to where the session is once this connection has ended. */
  move(): void {
    this.#transport.send([MOVING])
  }

  send(messages: readonly string[]): void {
    // Another node was faster, and the front looks for the session anew. Nothing was done for the request.
    if (messages.some(isElsewhere)) return this.#transport.destroy()
    this.#transport.send(messages)
    if (this.#making !== undefined) for (const message of messages) this.#learn(message)
  }

  opened(requestId: RequestId): void {
    this.#transport.send([notificationMessage(OPENED, { requestId })])
  }

  isBackpressured(): boolean {
    return this.#transport.isBackpressured()
  }

  drained(): Promise<void> {
    return this.#transport.drained()
  }

  close(): Promise<void> {
    this.#isMade()
    return this.#transport.close()
  }

  destroy(): void {
    this.#isMade()
    this.#transport.destroy()
  }

  #note(received: Received): void {
    if (typeof received !== 'string' || !CREATING.test(received)) return
    const message = parseMessage(received)
    if (message.kind === 'request') this.#making = message.id
  }

  #learn(message: string): void {
    if (!message.startsWith(RESPONSE)) return
    const response = parseMessage(message)
    if (response.kind !== 'response' || response.id !== this.#making) return
    const { sessionId } = fieldsOf(response.result)
    if (typeof sessionId === 'string') this.session = sessionId
    this.#isMade()
  }

  #isMade(): void {
    this.#making = undefined
    for (const resolve of this.#whenMade.splice(0)) resolve()
  }

  async *#messages(): AsyncGenerator<readonly Received[]> {
    for await (const messages of this.#transport.messages) {
      if (this.session === undefined) for (const message of messages) this.#note(message)
      const end = messages.findIndex(isLast)
      if (end === -1) yield messages
      else return yield messages.slice(0, end)
    }
  }
}

function isLast(received: Received): boolean {
  if (typeof received !== 'string' || received.length > 200 || !received.includes(MOVED)) return false
  const message = parseMessage(received)
  return message.kind === 'notification' && message.method === MOVED
}

function isElsewhere(message: string): boolean {
  if (!message.startsWith(RESPONSE) || !message.includes('"SESSION_ELSEWHERE"')) return false
  const response = parseMessage(message)
  return response.kind === 'response' && response.error?.code === 'SESSION_ELSEWHERE'
}
