/**
 * Connects to the server and starts one if none runs: at once, then with growing pauses, until the relay
 * answers the client with SERVER_LOST.
 */
import { type Socket, connect } from 'node:net'
import type { Duplex } from 'node:stream'
import { ParleyError, isParleyError, reasonOf } from '../errors/parley-error.ts'

export interface ServerAccess {
  /** A connection to the server that runs, if one does. */
  dial(): Promise<Duplex>
  /** Resolves when a server accepts connections, whichever program started it. */
  start(): Promise<void>
  pause(ms: number): Promise<void>
}

/** Before each attempt in a row. */
const PAUSES_MS: readonly number[] = [0, 0, 300, 900, 2_700]
/** A failed start counts for several attempts: it has waited itself, and a client waits too. */
const FAILURES_PER_START = 2

export class Connector {
  readonly #server: ServerAccess
  /** Attempts in a row that failed, and servers that ended before they had answered. */
  #failures = 0
  #isUrgent = false
  readonly #starting: () => void

  /** `starting` is called when no server runs, before one is started. */
  constructor(server: ServerAccess, starting: () => void) {
    this.#server = server
    this.#starting = starting
  }

  /** The server has answered as one does. */
  succeeded(): void {
    this.#failures = 0
  }

  /** The server ended before it had answered. */
  failed(): void {
    this.#failures += 1
  }

  /** A request waits for the server: one attempt is made at once, however many have failed. */
  hurry(): void {
    this.#failures = Math.min(this.#failures, PAUSES_MS.length - 1)
    this.#isUrgent = true
  }

  /** Starts a server where none runs. Throws why that failed, once another attempt is not worth it. */
  async connect(): Promise<Duplex> {
    let reason: unknown = new Error(`it ended ${this.#failures} times in a row`)
    while (this.#failures < PAUSES_MS.length) {
      await this.#pause()
      try {
        return await this.#dialOrStart()
      } catch (error) {
        reason = error
        this.#failures += isPermanent(error) ? PAUSES_MS.length : FAILURES_PER_START
      }
    }
    if (isParleyError(reason)) throw reason
    throw new ParleyError('SERVER_LOST', { reason: reasonOf(reason) }, reason)
  }

  async #pause(): Promise<void> {
    const ms = this.#isUrgent ? 0 : (PAUSES_MS[this.#failures] ?? 0)
    this.#isUrgent = false
    if (ms > 0) await this.#server.pause(ms)
  }

  async #dialOrStart(): Promise<Duplex> {
    try {
      return await this.#server.dial()
    } catch {
      // No server listens, or none that can be reached; an attempt to start one shows which.
      this.#starting()
      await this.#server.start()
      return this.#server.dial()
    }
  }
}

function isPermanent(error: unknown): boolean {
  return isParleyError(error) && !error.retryable
}

/** A connection to the server's socket. Rejects with the error of the system when no server listens. */
export function connectSocket(path: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(path)
    socket.once('error', reject)
    socket.once('connect', () => {
      socket.off('error', reject)
      // The reader of the socket sees it end; a writer needs no error of its own.
      socket.on('error', () => undefined)
      resolve(socket)
    })
  })
}
