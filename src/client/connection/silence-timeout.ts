/** Gives up on an agent that sends nothing. Without this, a request that is never answered would be awaited for ever. */
import { ClientError } from '../client-error.ts'

/** How long an agent may say nothing while it owes a response. */
export interface SilenceTimeout {
  readonly ms: number
  /** Runs `run` once after `ms`, unless the returned function is called before. */
  after(ms: number, run: () => void): () => void
}

/** A turn may take hours, and it can be cancelled; any other request is answered soon. */
const UNLIMITED = 'session/prompt'

export class SilenceWatch {
  readonly #timeout: SilenceTimeout
  readonly #giveUp: (why: ClientError) => void
  /** Methods of our requests without a response, by their id. */
  readonly #awaited = new Map<unknown, string>()
  /** Requests of the agent that we have not answered. */
  readonly #owed = new Set<unknown>()
  /** A message has come since the timer was set. */
  #isAlive = false
  #stopTimer: (() => void) | undefined

  constructor(timeout: SilenceTimeout, giveUp: (why: ClientError) => void) {
    this.#timeout = timeout
    this.#giveUp = giveUp
  }

  requested(id: unknown, method: string): void {
    if (method === UNLIMITED) return
    this.#awaited.set(id, method)
    if (this.#stopTimer === undefined) this.#startTimer()
  }

  /** The agent has sent a message. */
  received(): void {
    this.#isAlive = true
  }

  responded(id: unknown): void {
    this.#awaited.delete(id)
    if (this.#awaited.size === 0) this.end()
  }

  /** The agent has sent a request: until we answer it, the agent may wait for us. */
  owes(id: unknown): void {
    this.#owed.add(id)
  }

  answered(id: unknown): void {
    this.#isAlive = true
    this.#owed.delete(id)
  }

  end(): void {
    this.#stopTimer?.()
    this.#stopTimer = undefined
  }

  #startTimer(): void {
    this.#isAlive = false
    this.#stopTimer = this.#timeout.after(this.#timeout.ms, () => this.#check())
  }

  #check(): void {
    this.#stopTimer = undefined
    const [method] = this.#awaited.values()
    if (method === undefined) return
    if (this.#isAlive || this.#owed.size > 0) this.#startTimer()
    else this.#giveUp(new ClientError('AGENT_SILENT', { method, seconds: this.#timeout.ms / 1000 }))
  }
}
