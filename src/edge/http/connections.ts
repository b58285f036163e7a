/** The remote connections of the server, over WebSocket and HTTP alike: how many there may be, and which are closed. */
import type { TokenHolder } from '../../credentials/access-tokens.ts'
import type { Transport } from '../transport/transport.ts'
import type { RemoteLimits } from './admission/remote-limits.ts'
import type { Refusal } from './request-checks.ts'

/** A connection that can be ended because of who has it. */
export interface RemoteTransport extends Transport {
  /** The credential of this kind is gone; or `role`: it may do other things now. */
  cut(why: TokenHolder['kind'] | 'role'): void
}

/** Decides about remote clients, and serves them. */
export interface RemoteClientele {
  /** Undefined for a wrong token. Throws CLUSTER_UNREACHABLE where that cannot be known now. */
  holderOf(token: string): Promise<TokenHolder | undefined>
  connected(transport: Transport, holder: TokenHolder, over: 'websocket' | 'http'): void
  /** Whether the session exists for the holder, as far as its scope says: for one that reaches all, any does. */
  mayRead(holder: TokenHolder, sessionId: string): Promise<boolean>
  report(error: unknown): void
}

export class Connections {
  readonly #clients: RemoteClientele
  readonly #most: number
  readonly #holders = new Map<RemoteTransport, TokenHolder>()

  constructor(clients: RemoteClientele, { connections }: Pick<RemoteLimits, 'connections'>) {
    this.#clients = clients
    this.#most = connections
  }

  /** Undefined when there is room for one more. */
  refusalFor({ id }: TokenHolder): Refusal | undefined {
    const own = [...this.#holders.values()].filter((one) => one.id === id).length
    if (own >= Math.ceil(this.#most / 4))
      return { status: 429, sentence: `This access token has ${own} connections already; close one first.` }
    if (this.#holders.size >= this.#most)
      return { status: 429, sentence: `The server has ${this.#most} connections already; try again later.` }
    return undefined
  }

  /** Event streams at once: of all clients, and with one credential. A client over HTTP reads one for each session. */
  get mostStreams(): { readonly ofAll: number; readonly ofOne: number } {
    return { ofAll: this.#most * 4, ofOne: this.#most }
  }

  mayRead(holder: TokenHolder, sessionId: string): Promise<boolean> {
    return this.#clients.mayRead(holder, sessionId)
  }

  /** Serves it; `remove` says when it has ended. */
  add(transport: RemoteTransport, holder: TokenHolder, over: 'websocket' | 'http'): void {
    this.#holders.set(transport, holder)
    this.#clients.connected(transport, holder, over)
  }

  remove(transport: RemoteTransport): void {
    this.#holders.delete(transport)
  }

  /** Ends the connections whose credential changed. */
  recheck(changeFor: (holder: TokenHolder) => 'removed' | 'other role' | undefined): void {
    for (const [transport, holder] of this.#holders) {
      const change = changeFor(holder)
      if (change !== undefined) transport.cut(change === 'removed' ? holder.kind : 'role')
    }
  }
}
