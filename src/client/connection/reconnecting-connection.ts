/** A connection that comes back: dialled again when it is lost, until it is closed or there is nothing to come back to. */
import { ParleyError, fail, isParleyError } from '../../errors/parley-error.ts'
import { type Listener, Peer } from './json-rpc-peer.ts'
import type { Pipe } from './pipe.ts'
import type { Patience } from './silence.ts'

/** What a client cannot have by itself. */
export interface Means {
  /** Reaches the server, and starts it if need be. */
  dial(): Promise<Pipe>
  /** Resolves after so many milliseconds. */
  pause(ms: number): Promise<void>
  /** Differs from every other id there is. */
  newId(): string
  /** False when dialling again reaches another server: then what is lost stays lost. */
  readonly lasting?: false
  /** How long the other side may say nothing while it owes an answer; for ever if absent. */
  readonly patience?: Patience
}

/** Whoever uses the link. */
export interface ConnectionListener {
  readonly listener: Omit<Listener, 'ended'>
  /** Introduces us, and takes up again what was open. True when the server is one that can be come back to. */
  greet(peer: Peer): Promise<boolean>
  /** The connection is gone, and what was asked on it is unanswered. */
  broken(comesBack: boolean): void
  back(): void
  /** It does not come back by itself, for this reason. */
  given(reason: ParleyError): void
}

type State =
  | { readonly kind: 'up'; readonly peer: Peer; readonly lasting: boolean }
  | { readonly kind: 'coming'; readonly peer: Promise<Peer> }
  /** The next request dials again. */
  | { readonly kind: 'down' }
  | { readonly kind: 'closed' }

/** Milliseconds before each further attempt. */
const PAUSES = [0, 50, 100, 200, 400, 800, 1_600, 3_200]

export class ReconnectingConnection {
  readonly #means: Means
  readonly #customer: ConnectionListener
  #state: State = { kind: 'down' }
  #stopping = false
  #wasUp = false
  #closed: () => void = () => undefined
  /** Resolves when the connection has ended for good. Never rejects. */
  readonly closed = new Promise<void>((resolve) => (this.#closed = resolve))

  constructor(means: Means, customer: ConnectionListener) {
    this.#means = means
    this.#customer = customer
  }

  /** Resolves with the connection as soon as there is one. Throws what keeps it from being there: the first time at once. */
  peer(): Promise<Peer> {
    switch (this.#state.kind) {
      case 'up':
        return Promise.resolve(this.#state.peer)
      case 'coming':
        return this.#state.peer
      case 'down':
        return this.#comeBack()
      case 'closed':
        return Promise.reject(new ParleyError('CONNECTION_LOST', { method: 'a request' }))
    }
  }

  /** The connection if there is one now. */
  get present(): Peer | undefined {
    return this.#state.kind === 'up' ? this.#state.peer : undefined
  }

  /** Whether a request that the connection lost may be asked again. */
  get comesBack(): boolean {
    return this.#state.kind === 'coming'
  }

  /** The server has said that it ends: its end is no accident, and nobody starts it again for us. */
  stopping(): void {
    this.#stopping = true
  }

  /** Resolves when the present connection has ended, if there is one. */
  async gone(): Promise<void> {
    if (this.#state.kind === 'up') await this.#state.peer.closed
  }

  /** Idempotent. */
  close(): void {
    const before = this.#state
    if (before.kind === 'closed') return
    this.#state = { kind: 'closed' }
    if (before.kind === 'up') before.peer.close()
    this.#closed()
  }

  #comeBack(): Promise<Peer> {
    const peer = this.#come(this.#wasUp ? PAUSES : [0])
    peer.then(
      () => this.#customer.back(),
      // Whoever must know has been told by `given`.
      () => undefined,
    )
    return peer
  }

  #come(pauses: readonly number[]): Promise<Peer> {
    const peer = this.#dial(pauses)
    this.#state = { kind: 'coming', peer }
    // Whoever waits for it hears of a failure; perhaps nobody does.
    peer.catch(() => undefined)
    return peer
  }

  async #dial(pauses: readonly number[]): Promise<Peer> {
    let reason: unknown
    for (const ms of pauses) {
      if (ms > 0) await this.#means.pause(ms)
      if (this.#state.kind === 'closed') break
      try {
        return await this.#connect()
      } catch (error) {
        reason = error
        if (isParleyError(error) && !error.retryable) break
      }
    }
    if (this.#state.kind === 'closed') return fail('CONNECTION_LOST', { method: 'a request' }, reason)
    this.#state = { kind: 'down' }
    const known = isParleyError(reason) ? reason : new ParleyError('CONNECTION_LOST', { method: 'initialize' }, reason)
    this.#customer.given(known)
    throw reason
  }

  async #connect(): Promise<Peer> {
    this.#stopping = false
    const pipe = await this.#means.dial()
    const listener = { ...this.#customer.listener, ended: (why?: ParleyError) => this.#ended(peer, why) }
    const peer: Peer = new Peer(pipe, listener, this.#means.patience)
    try {
      const canReturn = await this.#customer.greet(peer)
      if (peer.ended || this.#state.kind === 'closed') return fail('CONNECTION_LOST', { method: 'initialize' })
      this.#wasUp = true
      this.#state = { kind: 'up', peer, lasting: canReturn && this.#means.lasting !== false }
      return peer
    } catch (error) {
      peer.close()
      throw error
    }
  }

  #ended(peer: Peer, why?: ParleyError): void {
    const before = this.#state
    if (before.kind !== 'up' || before.peer !== peer) return
    // What we ended for a reason that stays does not come back by itself.
    const lastingReason = why?.retryable === false ? why : undefined
    const end = this.#stopping ? new ParleyError('SERVER_STOPPED', {}) : lastingReason
    this.#customer.broken(end === undefined && before.lasting)
    if (end !== undefined && (this.#stopping || before.lasting)) {
      this.#state = { kind: 'down' }
      this.#customer.given(end)
    } else if (before.lasting) {
      void this.#comeBack()
    } else {
      this.#customer.given(why ?? new ParleyError('CONNECTION_LOST', { method: 'a request' }))
      this.close()
    }
  }
}
