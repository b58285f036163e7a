/** Who a client is to the people behind it: what they are told, and what they are asked. */
import type { Notice } from './incoming/notices.ts'
import type { PermissionQuestion } from './incoming/permission-requests.ts'
import type { UpdateParams } from './incoming/updates.ts'

/** What throws in these is told as FACE_FAILED to whoever waits for an answer. */
export interface ClientDelegate {
  updated(params: UpdateParams): void
  /**
   * The id of the chosen option, or null for none. `withdrawn` aborts when the answer is no longer wanted; its reason is a
   * `Withdrawal`.
   */
  ask(question: PermissionQuestion, withdrawn: AbortSignal): Promise<string | null>
  /** What the server tells beside the conversation, if this client asked for that kind. */
  noticed?(notice: Notice): void
  /** The turn was asked to end. What of it is open is to be shown as cancelled at once; updates may still come. */
  cancelling?(sessionId: string): void
  /** How the connection is. A face that shows nothing of it misses nothing of the conversation. */
  connection?(event: ConnectionEvent): void
}

export type ConnectionEvent =
  /** Lost; requests wait, and nothing is to be done. */
  | { readonly kind: 'reconnecting' }
  /** Whatever was missed comes as updates. */
  | { readonly kind: 'reconnected' }
  /** The server was stopped in order, or cannot be reached again for `reason`. The next request dials again. */
  | { readonly kind: 'stopped' }
  | { readonly kind: 'lost'; readonly reason: unknown }
  /** While we were away the session was closed or deleted, or its journal replaced. */
  | { readonly kind: 'detached'; readonly sessionId: string; readonly reason: unknown }

/** A face whose errors are its own: they reach `failed`, and neither the connection nor what else is told of it. */
export class GuardedFace implements ClientDelegate {
  readonly #face: ClientDelegate
  readonly #failed: (error: unknown) => void

  constructor(face: ClientDelegate, failed: (error: unknown) => void) {
    this.#face = face
    this.#failed = failed
  }

  updated(params: UpdateParams): void {
    this.#guard(() => this.#face.updated(params))
  }

  /** An error while it asks is a rejection, and no answer. */
  async ask(question: PermissionQuestion, withdrawn: AbortSignal): Promise<string | null> {
    return this.#face.ask(question, withdrawn)
  }

  noticed(notice: Notice): void {
    this.#guard(() => this.#face.noticed?.(notice))
  }

  cancelling(sessionId: string): void {
    this.#guard(() => this.#face.cancelling?.(sessionId))
  }

  connection(event: ConnectionEvent): void {
    this.#guard(() => this.#face.connection?.(event))
  }

  #guard(tell: () => void): void {
    try {
      tell()
    } catch (error) {
      this.#failed(error)
    }
  }
}
