/**
 * Reaches the server again and again until it is there, sooner when something suggests that it may be.
 *
 *     asking ──may──▶ opening ──opened──▶ up ──lost──▶ opening
 *       ▲  │ may not    │ failed            └──refused for good──▶ (throws)
 *       │  ▼            ▼
 *       └─ pausing ◀────┘      (250 ms, doubled up to 15 s; `now` ends the pause)
 */
import { ClientError } from '../client-error.ts'
import type { LiveSocket, SocketClock } from './web-socket.ts'

const FIRST_MS = 250
const LONGEST_MS = 15_000
/** Close code: the credential was removed or has expired. */
const CREDENTIAL_ENDED = 4401
/** The error of the package `ws` for a refused handshake. A browser does not report why a handshake failed. */
const UNAUTHORIZED = /: 401$/u

export interface RediallingDeps {
  open(): Promise<LiveSocket>
  /**
   * Whether the server would let us in; asked where the last connection was refused, or there was none. A browser does not say
   * why a WebSocket is refused.
   */
  mayOpen?(): Promise<boolean>
  readonly clock: SocketClock
  /** From 0 to 1. All clients of a server that was gone would otherwise come back at the same moment. */
  chance(): number
}

export class Redialling {
  readonly #deps: RediallingDeps
  #stopPause: () => void = () => undefined
  /** The next pause is left out. */
  #isHurried = false
  #mustAsk = true
  #socket: LiveSocket | undefined
  #pauseMs = FIRST_MS
  #hasStopped = false

  constructor(deps: RediallingDeps) {
    this.#deps = deps
  }

  /** Resolves when there is a connection, however long that takes. Throws SERVER_REFUSED when the credential has ended, and after `stop`. */
  async dial(): Promise<LiveSocket> {
    for (;;) {
      this.#requireWelcome()
      if (this.#hasStopped) throw new ClientError('CONNECTION_LOST', { method: 'initialize' })
      const socket = await this.try().catch((error: unknown) => this.#requireNotRefused(error))
      if (socket !== undefined) return socket
      await this.pause()
    }
  }

  /** One attempt. Throws why there is no connection. */
  async try(): Promise<LiveSocket> {
    if (this.#mustAsk && (await this.#deps.mayOpen?.()) === false) throw new Error('the server does not let us in')
    try {
      this.#socket = await this.#deps.open()
      return this.#socket
    } catch (error) {
      this.#mustAsk = true
      throw error
    }
  }

  /** Stops dialling for good. */
  stop(): void {
    this.#hasStopped = true
    this.#stopPause()
  }

  /** The client has been greeted on the connection. */
  connected(): void {
    this.#mustAsk = false
    this.#pauseMs = FIRST_MS
  }

  /** Does not wait out the pause; a connection that may be dead must answer soon. */
  now(): void {
    this.#isHurried = true
    this.#stopPause()
    this.#socket?.probe()
  }

  /** Before the next attempt; longer each time until one succeeds. */
  async pause(): Promise<void> {
    const ms = this.#pauseMs * (0.75 + this.#deps.chance() / 2)
    this.#pauseMs = Math.min(this.#pauseMs * 2, LONGEST_MS)
    if (!this.#isHurried && !this.#hasStopped)
      await new Promise<void>((resolve) => {
        const stop = this.#deps.clock.after(ms, resolve)
        this.#stopPause = () => {
          stop()
          resolve()
        }
      })
    this.#isHurried = false
  }

  /** The server may have been away while the credential was taken back. */
  #requireNotRefused(error: unknown): undefined {
    const reason = error instanceof Error ? error.message : ''
    if (this.#deps.mayOpen !== undefined || !UNAUTHORIZED.test(reason)) return undefined
    throw new ClientError('SERVER_REFUSED', { server: 'elsewhere', reason })
  }

  /** A page asks the server itself, and shows how to be let in again. */
  #requireWelcome(): void {
    const closing = this.#socket?.closing
    if (closing?.code !== CREDENTIAL_ENDED || this.#deps.mayOpen !== undefined) return
    throw new ClientError('SERVER_REFUSED', { server: 'elsewhere', reason: closing.reason })
  }
}
