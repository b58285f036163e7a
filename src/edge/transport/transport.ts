/** A connection to one client as the protocol sees it: whole JSON-RPC messages in both directions. How they are framed is the transport's matter. */
import { ParleyError } from '../../errors/parley-error.ts'
import { type Message, type RequestId, parseMessage, refuseCostly } from '../../rpc/json-rpc.ts'

export interface Transport {
  /** Messages as they arrive; ends when the client has closed its side. */
  readonly messages: AsyncIterable<readonly Received[]>
  /**
   * Each item is the JSON text of one message. Never waits; messages are dropped once the client is gone. Messages for
   * several clients are passed as the same array, so that a transport encodes it once.
   */
  send(messages: readonly string[]): void
  /** More is waiting to be read by the client than should be. */
  isBackpressured(): boolean
  /** Resolves when the client has read enough, or is gone. */
  drained(): Promise<void>
  /** Sends what is left, then closes. Idempotent. */
  close(): Promise<void>
  /** Closes at once and drops what the client has not read. Idempotent. */
  destroy(): void
}

export type Received =
  /** `chars` is the length of its text, which is its cost while it is being handled. */
  | { readonly kind: 'message'; readonly message: Message; readonly chars: number }
  /** Not a message that can be handled: `error` is the answer, to the request `id` where that could be read. */
  | { readonly kind: 'refused'; readonly id: RequestId; readonly error: ParleyError }

/** Parses the text of one message; every transport uses it. */
export function receive(text: string): Received {
  const message = refuseCostly(text) ?? parseMessage(text)
  if (message.kind !== 'unreadable') return { kind: 'message', message, chars: text.length }
  const { id, problem, reason } = message
  switch (problem) {
    case 'malformed':
      return { kind: 'refused', id, error: new ParleyError('MESSAGE_MALFORMED', { reason }) }
    case 'invalid':
      return { kind: 'refused', id, error: new ParleyError('MESSAGE_INVALID', { reason }) }
    case 'too_large':
      return { kind: 'refused', id, error: new ParleyError('MESSAGE_TOO_LARGE', { reason }) }
  }
}
