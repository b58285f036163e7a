/** What a client asks, on whichever connection there is: again after a loss where that is safe, once where it is not. */
import { isLost } from '../sessions/attachments.ts'
import type { ReconnectingConnection } from './reconnecting-connection.ts'
import type { Peer } from './json-rpc-peer.ts'

export class Requests {
  readonly #link: ReconnectingConnection
  #count = 0

  constructor(link: ReconnectingConnection) {
    this.#link = link
  }

  /** Stays good on every connection. */
  newId(): number {
    this.#count += 1
    return this.#count - 1
  }

  ask(method: string, params: unknown): Promise<unknown> {
    return this.persist((peer) => peer.request(this.newId(), method, params))
  }

  /** For what must not happen twice: lost with its connection, it may have happened. */
  async askOnce(method: string, params: unknown): Promise<unknown> {
    const peer = await this.#link.peer()
    return peer.request(this.newId(), method, params)
  }

  /** Asks on one connection after the other until there is an answer, or no connection any more. */
  async persist<Result>(ask: (peer: Peer) => Promise<Result>): Promise<Result> {
    for (;;) {
      const peer = await this.#link.peer()
      try {
        return await ask(peer)
      } catch (error) {
        if (!isLost(error) || !this.#link.comesBack) throw error
      }
    }
  }
}
