/**
 * A connection to one client as the protocol sees it: the texts of whole messages in both directions. How they are
 * framed is left to the transport.
 */
import type { ParleyError } from '../../errors/parley-error.ts'
import type { RequestId } from '../../rpc/json-rpc.ts'

export interface Transport {
  /** Messages as they arrive; ends when the client has closed its side. */
  readonly messages: AsyncIterable<readonly Received[]>
  /**
   * Each item is the JSON text of one message. Never waits; messages are dropped once the client is gone. Messages for
   * several clients are passed as the same array, so that a transport encodes it once.
   */
  send(messages: readonly string[]): void
  /** The client has been greeted: what a transport allows before that no longer counts. */
  initialized?(): void
  /** The request `id` has opened its session: all messages about that from before it are sent, and what follows is its own. */
  opened?(id: RequestId): void
  /** Whether too much is waiting for the client to read: of this session, if each session has a stream of its own. */
  isBackpressured(sessionId?: string): boolean
  /** Resolves when the client has read enough, or is gone. */
  drained(sessionId?: string): Promise<void>
  /** Sends what is left, then closes. Idempotent. */
  close(): Promise<void>
  /** Closes at once and drops what the client has not read. Idempotent. */
  destroy(): void
}

/** The JSON text of one message, or the error that answers something which has no such text. */
export type Received = string | Refused

export interface Refused {
  /** The request that this refuses; null where that is not known. */
  readonly id: RequestId
  readonly error: ParleyError
}
