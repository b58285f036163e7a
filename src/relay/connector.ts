/** Finds the server, or starts one: at once, then with more and more patience, up to the point where somebody must be told. */
import type { Socket } from 'node:net'
import { ParleyError, isParleyError, reasonOf } from '../errors/parley-error.ts'

export interface ConnectorDeps {
  /** A connection to the server that runs, if one does. */
  dial(): Promise<Socket>
  /** Resolves when a server accepts connections, whoever started it. */
  start(): Promise<void>
  pause(ms: number): Promise<void>
}

/** Milliseconds to wait before each try in a row. */
const PATIENCE: readonly number[] = [0, 0, 300, 900, 2_700]
/** What a start that failed counts: it has been patient itself, and somebody waits. */
const START_FAILED = 2

export class Connector {
  readonly #around: ConnectorDeps
  /** Tries and servers in a row that came to nothing. */
  #failures = 0
  #isUrgent = false

  constructor(around: ConnectorDeps) {
    this.#around = around
  }

  /** A server has proved to be one. */
  succeeded(): void {
    this.#failures = 0
  }

  /** It was found, and ended before it had proved anything. */
  failed(): void {
    this.#failures += 1
  }

  /** Somebody waits for it: that is worth a try at once, however many came to nothing. */
  wanted(): void {
    this.#failures = Math.min(this.#failures, PATIENCE.length - 1)
    this.#isUrgent = true
  }

  /** Starts a server where none runs. Throws what is in the way, once it is not worth another try. */
  async find(): Promise<Socket> {
    let reason: unknown = new Error(`it ended ${this.#failures} times in a row`)
    while (this.#failures < PATIENCE.length) {
      await this.#patience()
      try {
        return await this.#dialOrStart()
      } catch (error) {
        reason = error
        this.#failures += isLasting(error) ? PATIENCE.length : START_FAILED
      }
    }
    if (isParleyError(reason)) throw reason
    throw new ParleyError('SERVER_LOST', { reason: reasonOf(reason) }, reason)
  }

  async #patience(): Promise<void> {
    const ms = this.#isUrgent ? 0 : (PATIENCE[this.#failures] ?? 0)
    this.#isUrgent = false
    if (ms > 0) await this.#around.pause(ms)
  }

  async #dialOrStart(): Promise<Socket> {
    try {
      return await this.#around.dial()
    } catch {
      // Nobody listens, or nobody who can be reached: starting one says which.
      await this.#around.start()
      return this.#around.dial()
    }
  }
}

function isLasting(error: unknown): boolean {
  return isParleyError(error) && !error.retryable
}
