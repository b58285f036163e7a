/** The program that shows what the client receives and asks the user. The CLI has several; an embedder writes its own. */
import type { Notice } from './incoming/notices.ts'
import type { PermissionQuestion } from './incoming/permission-requests.ts'
import type { UpdateParams } from './incoming/updates.ts'

/** When a method throws, requests that wait are rejected with DELEGATE_FAILED. */
export interface ClientDelegate {
  updated(params: UpdateParams): void
  /**
   * Asks the user for permission. Returns the id of the chosen option, or null for none. `withdrawn` aborts when the answer is no
   * longer wanted; its reason is a `Withdrawal`.
   */
  ask(question: PermissionQuestion, withdrawn: AbortSignal): Promise<string | null>
  /** A notice beside the conversation, of a kind that this client asked for. */
  noticed?(notice: Notice): void
  /** The turn was cancelled here. Show its open tool calls as cancelled at once; updates may still come. */
  cancelling?(sessionId: string): void
  /** The connection has changed. A delegate that ignores it misses nothing of the conversation. */
  connection?(event: ConnectionEvent): void
}

export type ConnectionEvent =
  /** Lost; requests wait, and the client reconnects by itself. */
  | { readonly kind: 'reconnecting' }
  /** Entries that were missed come as updates. */
  | { readonly kind: 'reconnected' }
  /** The server does not reach its database, so it stores nothing new; and it does again. A lost connection ends that too. */
  | { readonly kind: 'uncertain' }
  | { readonly kind: 'certain' }
  /** The server was stopped in order, or cannot be reached again for `reason`. The next request dials again. */
  | { readonly kind: 'stopped' }
  | { readonly kind: 'lost'; readonly reason: unknown }
  /** While there was no connection, the session was closed or deleted, or its journal was replaced. */
  | { readonly kind: 'detached'; readonly sessionId: string; readonly reason: unknown }

/**
 * Passes every call to a delegate. An error of the delegate goes to `failed`, and breaks neither the connection nor later
 * calls.
 */
export class GuardedDelegate implements ClientDelegate {
  readonly #delegate: ClientDelegate
  readonly #failed: (error: unknown) => void

  constructor(delegate: ClientDelegate, failed: (error: unknown) => void) {
    this.#delegate = delegate
    this.#failed = failed
  }

  updated(params: UpdateParams): void {
    this.#guard(() => this.#delegate.updated(params))
  }

  /** An error while it asks rejects, which counts as no answer. */
  async ask(question: PermissionQuestion, withdrawn: AbortSignal): Promise<string | null> {
    return this.#delegate.ask(question, withdrawn)
  }

  noticed(notice: Notice): void {
    this.#guard(() => this.#delegate.noticed?.(notice))
  }

  cancelling(sessionId: string): void {
    this.#guard(() => this.#delegate.cancelling?.(sessionId))
  }

  connection(event: ConnectionEvent): void {
    this.#guard(() => this.#delegate.connection?.(event))
  }

  #guard(call: () => void): void {
    try {
      call()
    } catch (error) {
      this.#failed(error)
    }
  }
}
