/**
 * One session of one client, on whichever node it is: the relay of editors, between the client's connection to this
 * node and the node that owns the session. When the owner changes, it resumes from the last entry that the client has.
 */
import { Writable } from 'node:stream'
import { isParleyError } from '../../../errors/parley-error.ts'
import { relay } from '../../../relay/relay.ts'
import { requestMessage } from '../../../rpc/json-rpc.ts'
import { LineQueue } from './line-queue.ts'
import type { SessionDialer } from './session-dialer.ts'

/** How long a client that has left may still be answered. Milliseconds. */
const LEAVE_MS = 2_000

export interface WireOwner {
  newId(): string
  /** Lines for the client, in their order; resolves when it has room for more. */
  fromSession(wire: SessionWire, lines: readonly string[]): Promise<void> | undefined
  note(sentence: string): void
  report(error: unknown): void
}

/** Requests that each connection of the client begins with; the client has its answers from this node itself. */
export const GREETING_ID = 'parley-greeting'

export class SessionWire {
  /** Known once the session is made. */
  sessionId: string | undefined
  /** The client has it open. */
  isOpen = false
  /** Requests of the client without an answer. */
  pending = 0
  readonly #queue = new LineQueue()
  readonly #dialer: SessionDialer
  readonly #running: Promise<void>

  constructor(dialer: SessionDialer, owner: WireOwner) {
    this.#dialer = dialer
    this.#running = relay({
      input: this.#queue,
      output: this.#output(owner),
      // No node is older than this: nodes are not asked to stop by a front.
      handshake: { version: '0.0.0', agentChosen: false },
      server: dialer,
      offers: { find: async () => undefined, remember: async () => undefined },
      newId: () => owner.newId(),
      say: (sentence) => owner.note(sentence),
    }).catch((error: unknown) => {
      if (!isParleyError(error, 'SERVER_STOPPING')) owner.report(error)
    })
  }

  greet(method: string, params: unknown): void {
    this.#queue.push(requestMessage(GREETING_ID, method, params))
  }

  send(line: string): void {
    this.#queue.push(line)
  }

  untilRoom(): Promise<void> {
    return this.#queue.untilRoom()
  }

  /** The client is gone, or has closed the session. Resolves when what it waits for was answered, at the latest soon. */
  async end(): Promise<void> {
    this.#queue.end()
    await Promise.race([this.#running, this.#dialer.pause(LEAVE_MS)])
    this.#dialer.end()
  }

  async #toClient(owner: WireOwner, lines: readonly string[], done: () => void): Promise<void> {
    await owner.fromSession(this, lines)
    done()
  }

  #output(owner: WireOwner): Writable {
    return new Writable({
      highWaterMark: 1,
      // The relay writes whole lines.
      write: (bytes: Buffer, _encoding, done) => {
        void this.#toClient(owner, bytes.toString().split('\n').slice(0, -1), done)
      },
    })
  }
}
