/** Ends the wait for an agent that says nothing: without this, a request that is never answered is awaited for ever. */
import { ParleyError } from '../../errors/parley-error.ts'

/** How long an agent may say nothing while it owes an answer. */
export interface Patience {
  readonly ms: number
  /** Runs once after `ms`, unless what it returns is called before. */
  after(ms: number, run: () => void): () => void
}

/** A turn may think for hours, and it can be cancelled; any other request is answered soon. */
const UNLIMITED = 'session/prompt'

export class SilenceWatch {
  readonly #patience: Patience
  readonly #giveUp: (why: ParleyError) => void
  /** Methods of requests without an answer. */
  readonly #awaited = new Map<unknown, string>()
  /** Requests of the agent that it waits for us to answer. */
  readonly #owed = new Set<unknown>()
  #hasSpoken = false
  #stop: (() => void) | undefined

  constructor(patience: Patience, giveUp: (why: ParleyError) => void) {
    this.#patience = patience
    this.#giveUp = giveUp
  }

  asked(id: unknown, method: string): void {
    if (method === UNLIMITED) return
    this.#awaited.set(id, method)
    if (this.#stop === undefined) this.#wait()
  }

  /** The agent has sent a message. */
  spoke(): void {
    this.#hasSpoken = true
  }

  answered(id: unknown): void {
    this.#awaited.delete(id)
    if (this.#awaited.size === 0) this.end()
  }

  /** The agent asks us: until we have answered, its silence is ours. */
  owes(id: unknown): void {
    this.#owed.add(id)
  }

  paid(id: unknown): void {
    this.#hasSpoken = true
    this.#owed.delete(id)
  }

  end(): void {
    this.#stop?.()
    this.#stop = undefined
  }

  #wait(): void {
    this.#hasSpoken = false
    this.#stop = this.#patience.after(this.#patience.ms, () => this.#look())
  }

  #look(): void {
    this.#stop = undefined
    const [method] = this.#awaited.values()
    if (method === undefined) return
    if (this.#hasSpoken || this.#owed.size > 0) this.#wait()
    else this.#giveUp(new ParleyError('AGENT_SILENT', { method, seconds: this.#patience.ms / 1000 }))
  }
}
