/**
 * A connection that is dialled again when it is lost, and the requests on it.
 *
 *     down ──request──▶ connecting ──▶ up ──lost──▶ connecting   (a Parley server: sessions are resumed)
 *      ▲                    │           ├──server stopped──▶ down (the next request dials again)
 *      └────attempts fail───┘           └──lost, other agent──▶ closed
 */
import { CodedError } from '../../errors/coded-error.ts'
import { ClientError, fail, isLost } from '../client-error.ts'
import { Peer, type PeerListener } from './json-rpc-peer.ts'
import type { SilenceTimeout } from './silence-timeout.ts'
import type { ClientTransport } from './transport.ts'

/** Provided by the program around the client. */
export interface ConnectionDeps {
  /** Reaches the server, and starts it if need be. */
  dial(): Promise<ClientTransport>
  pause(ms: number): Promise<void>
  /** The client is closed: what `dial` still waits for is not wanted any more. */
  leave?(): void
  /** Returns an id that differs from all others. */
  newId(): string
  /** False when dialling again reaches another server: then a lost connection stays lost. */
  readonly isDurable?: false
  /** The server runs elsewhere: when it stops in an orderly way, another one will be there, and we dial until it is. */
  readonly comesBack?: true
  /** How long the other side may say nothing while it owes a response; for ever if absent. */
  readonly silenceTimeout?: SilenceTimeout
}

/** The client that uses the connection. */
export interface ConnectionListener {
  readonly peerListener: Omit<PeerListener, 'ended'>
  /** Initializes the connection and resumes what was open. True when the server keeps sessions, so that dialling again is worth it. */
  initialize(peer: Peer): Promise<boolean>
  /** The connection is lost, and requests on it have no response. */
  lost(isReconnecting: boolean): void
  reconnected(): void
  /** Called when the connection is not restored any more, with the reason. */
  gaveUp(reason: CodedError): void
}

type State =
  | { readonly kind: 'up'; readonly peer: Peer; readonly isDurable: boolean }
  | { readonly kind: 'connecting'; readonly peer: Promise<Peer> }
  | { readonly kind: 'down' }
  | { readonly kind: 'closed' }

/** Before each attempt to reconnect. */
const PAUSES_MS = [0, 50, 100, 200, 400, 800, 1_600, 3_200]

export class ReconnectingConnection {
  readonly #deps: ConnectionDeps
  readonly #listener: ConnectionListener
  #state: State = { kind: 'down' }
  #isServerStopping = false
  #wasUp = false
  #requests = 0
  #resolveClosed: () => void = () => undefined
  /** Resolves when the connection has ended for good. Never rejects. */
  readonly closed = new Promise<void>((resolve) => (this.#resolveClosed = resolve))

  constructor(deps: ConnectionDeps, listener: ConnectionListener) {
    this.#deps = deps
    this.#listener = listener
  }

  /** Resolves as soon as there is a connection. Throws why there is none: the first time after one attempt. */
  peer(): Promise<Peer> {
    switch (this.#state.kind) {
      case 'up':
        return Promise.resolve(this.#state.peer)
      case 'connecting':
        return this.#state.peer
      case 'down':
        return this.#reconnect()
      case 'closed':
        return Promise.reject(new ClientError('CONNECTION_LOST', { method: 'a request' }))
    }
  }

  /** The connection, if there is one now. */
  get present(): Peer | undefined {
    return this.#state.kind === 'up' ? this.#state.peer : undefined
  }

  /** An id that is valid on every connection. */
  newRequestId(): number {
    this.#requests += 1
    return this.#requests - 1
  }

  /** For what can be asked again: repeated on the next connection when it is lost. */
  request(method: string, params: unknown): Promise<unknown> {
    return this.requestUntilAnswered((peer) => peer.request(this.newRequestId(), method, params))
  }

  /** For what must not happen twice: a request that is lost with its connection may have had its effect. */
  async requestOnce(method: string, params: unknown): Promise<unknown> {
    const peer = await this.peer()
    return peer.request(this.newRequestId(), method, params)
  }

  /** Calls `ask` on one connection after the other until it is answered, or no further connection comes. */
  async requestUntilAnswered<Result>(ask: (peer: Peer) => Promise<Result>): Promise<Result> {
    for (;;) {
      const peer = await this.peer()
      try {
        return await ask(peer)
      } catch (error) {
        if (!isLost(error) || this.#state.kind !== 'connecting') throw error
      }
    }
  }

  /** The server has announced that it stops: its end is no accident, and we do not start it again by ourselves. */
  serverStopping(): void {
    this.#isServerStopping = this.#deps.comesBack !== true
  }

  /** Resolves when the present connection has ended, if there is one. */
  async ended(): Promise<void> {
    if (this.#state.kind === 'up') await this.#state.peer.closed
  }

  /** Idempotent. */
  close(): void {
    const before = this.#state
    if (before.kind === 'closed') return
    this.#state = { kind: 'closed' }
    this.#deps.leave?.()
    if (before.kind === 'up') before.peer.leave()
    this.#resolveClosed()
  }

  #reconnect(): Promise<Peer> {
    const peer = this.#dial(this.#wasUp ? PAUSES_MS : [0])
    this.#state = { kind: 'connecting', peer }
    // A failure reaches the listener by `gaveUp`, and the requests that wait for this promise.
    peer.then(
      () => this.#listener.reconnected(),
      () => undefined,
    )
    return peer
  }

  async #dial(pauses: readonly number[]): Promise<Peer> {
    let reason: unknown
    for (const ms of pauses) {
      if (ms > 0) await this.#deps.pause(ms)
      if (this.#state.kind === 'closed') break
      try {
        return await this.#connect()
      } catch (error) {
        reason = error
        if (error instanceof CodedError && !error.retryable) break
      }
    }
    if (this.#state.kind === 'closed') return fail('CONNECTION_LOST', { method: 'a request' }, reason)
    this.#state = { kind: 'down' }
    this.#listener.gaveUp(
      reason instanceof CodedError ? reason : new ClientError('CONNECTION_LOST', { method: 'initialize' }, reason),
    )
    throw reason
  }

  async #connect(): Promise<Peer> {
    this.#isServerStopping = false
    const transport = await this.#deps.dial()
    const listener = { ...this.#listener.peerListener, ended: (why?: CodedError) => this.#ended(peer, why) }
    const peer: Peer = new Peer(transport, listener, this.#deps.silenceTimeout)
    try {
      const keepsSessions = await this.#listener.initialize(peer)
      if (peer.hasEnded || this.#state.kind === 'closed') return fail('CONNECTION_LOST', { method: 'initialize' })
      this.#wasUp = true
      this.#state = { kind: 'up', peer, isDurable: keepsSessions && this.#deps.isDurable !== false }
      return peer
    } catch (error) {
      peer.leave()
      throw error
    }
  }

  #ended(peer: Peer, why?: CodedError): void {
    const before = this.#state
    if (before.kind !== 'up' || before.peer !== peer) return
    // A reason of ours that is permanent would end the next connection as well.
    const permanent = why?.retryable === false ? why : undefined
    const end = this.#isServerStopping ? new ClientError('SERVER_STOPPED', {}) : permanent
    this.#listener.lost(end === undefined && before.isDurable)
    if (end !== undefined && (this.#isServerStopping || before.isDurable)) {
      this.#state = { kind: 'down' }
      this.#listener.gaveUp(end)
    } else if (before.isDurable) {
      void this.#reconnect()
    } else {
      this.#listener.gaveUp(why ?? new ClientError('CONNECTION_LOST', { method: 'a request' }))
      this.close()
    }
  }
}
