/** The owner's end of what a front node opens for one session of one client: a connection of ACP that can be asked to leave. */
import type { Received, Transport } from '../../../edge/transport/transport.ts'
import { type RequestId, notificationMessage, parseMessage } from '../../../rpc/json-rpc.ts'

/** To the front: the request has opened its session. */
export const OPENED = '_parley/opened'
/** To the front: send nothing more, the session moves. And its answer, after which nothing comes. */
const MOVING = notificationMessage('_parley/server', { state: 'moving' })
const MOVED = '_parley/moved'

const RESPONSE = '{"jsonrpc":"2.0","id":'

export class SessionEnd implements Transport {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  get messages(): AsyncIterable<readonly Received[]> {
    return this.#messages()
  }

  /** The front sends nothing more, and goes to where the session is once this connection has ended. */
  move(): void {
    this.#transport.send([MOVING])
  }

  send(messages: readonly string[]): void {
    // Another node was faster, and the front looks for the session anew. Nothing was done for the request.
    if (messages.some(isElsewhere)) this.#transport.destroy()
    else this.#transport.send(messages)
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
    return this.#transport.close()
  }

  destroy(): void {
    this.#transport.destroy()
  }

  async *#messages(): AsyncGenerator<readonly Received[]> {
    for await (const messages of this.#transport.messages) {
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
