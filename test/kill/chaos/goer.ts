/**
 * A client on the bare wire (the socket, WebSocket, HTTP) that goes on where it was whenever its connection is lost, with
 * nothing of ours between.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { type Fields, type Message, updatesIn } from '../../e2e/message.ts'
import type { RawConnection } from '../../wire/raw-connection.ts'

/** A connection that can be broken off. */
export interface Wire extends RawConnection {
  readonly closed: Promise<unknown>
  cut(): void
  leave(): Promise<void>
}

/** A prompt, and what became of it. */
export interface Sent {
  readonly promptId: string
  readonly text: string
  /** How often it was answered, and with what; nothing for one whose client was killed. */
  answers(): readonly Message[]
  /** Resolves with its answer, or when its client is gone. */
  answered(): Promise<unknown>
  isOwed(): boolean
}

/** By a client on the bare wire, which is owed an answer whatever happens. */
export function promptRaw(goer: Goer, promptId: string, text: string): Sent {
  const id = `raw ${promptId}`
  goer.prompt(id, promptId, text)
  return { promptId, text, answers: () => goer.answersTo(id), answered: () => goer.answered(id), isOwed: () => true }
}

export class Goer {
  readonly #open: () => Promise<Wire>
  readonly #opening: Fields
  readonly #connections: Wire[] = []
  readonly #prompts = new Map<string, string>()
  readonly #listener: ((message: Message, on: Wire) => void) | undefined
  #isDone = false

  private constructor(open: () => Promise<Wire>, opening: Fields, listener?: (message: Message, on: Wire) => void) {
    this.#open = open
    this.#opening = opening
    this.#listener = listener
  }

  static async join(open: () => Promise<Wire>, opening: Fields): Promise<Goer> {
    const goer = new Goer(open, opening)
    const connection = await open()
    goer.#connections.push(connection)
    await connection.request('session/load', opening)
    void goer.#goOn(connection)
    return goer
  }

  /** One that comes when it is quiet again: its load is answered in words, or it is none. */
  static async visit(
    open: () => Promise<Wire>,
    opening: Fields,
    listener: (message: Message, on: Wire) => void,
  ): Promise<Goer> {
    const goer = new Goer(open, opening, listener)
    void goer.#goOn(await goer.#opened('session/load', opening))
    return goer
  }

  /** All that it was told, on whichever connection. */
  get received(): readonly Message[] {
    return this.#connections.flatMap(({ received }) => received)
  }

  prompt(requestId: string, promptId: string, text: string): void {
    this.#prompts.set(requestId, promptId)
    const params = {
      sessionId: this.#opening['sessionId'],
      prompt: [{ type: 'text', text }],
      _meta: { 'parley/promptId': promptId },
    }
    this.#connections.at(-1)?.send({ id: requestId, method: 'session/prompt', params })
  }

  notify(method: string, params: Fields): void {
    this.#connections.at(-1)?.send({ method, params })
  }

  /** Resolves when the server has handled what was sent over this connection; at once without one. */
  async isHeard(): Promise<void> {
    await this.#connections
      .at(-1)
      ?.request('session/list', {})
      .catch(() => undefined)
  }

  answersTo(requestId: string): readonly Message[] {
    return this.received.filter(({ id, method }) => id === requestId && method === undefined)
  }

  async answered(requestId: string): Promise<void> {
    while (this.answersTo(requestId).length === 0 && !this.#isDone) await sleep(20)
  }

  cut(): void {
    this.#connections.at(-1)?.cut()
  }

  leave(): void {
    this.#isDone = true
    void this.#connections.at(-1)?.leave()
  }

  async #goOn(lost: Wire): Promise<void> {
    await lost.closed
    // Where a connection outlasts what carries it, such as one over HTTP, the server hears that it is over.
    void lost.leave()
    while (!this.#isDone) {
      const next = await this.#resumed().catch(() => undefined)
      if (next !== undefined) return this.#goOn(next)
      await sleep(50)
    }
  }

  /** Nobody listens yet, or whoever did is gone again: then the next attempt has the same to ask. */
  async #resumed(): Promise<Wire> {
    const after = updatesIn(this.received).reduce((most, { seq }) => Math.max(most, seq), 0)
    const open = [...this.#prompts].filter(([requestId]) => this.answersTo(requestId).length === 0)
    const prompts = open.map(([requestId, promptId]) => ({ requestId, promptId }))
    const _meta = { 'parley/prompts': prompts }
    return this.#opened('session/resume', { ...this.#opening, _meta: { ..._meta, 'parley/after': after } })
  }

  async #opened(method: string, opening: Fields): Promise<Wire> {
    const connection = await this.#open()
    this.#connections.push(connection)
    connection.listen((message) => this.#listener?.(message, connection))
    const opened = await connection.request(method, opening)
    // Of a log that was cut short less is left than was seen; the refusal says to load it from the beginning.
    const isBeyond = opened.error?.data?.['code'] === 'CURSOR_BEYOND'
    const { error } = isBeyond ? await connection.request('session/load', withoutCursor(opening)) : opened
    if (error === undefined) return connection
    await connection.leave()
    throw new Error(error.message)
  }
}

function withoutCursor({ _meta, ...opening }: Fields): Fields {
  return { ...opening, _meta: { 'parley/prompts': (_meta as Fields)['parley/prompts'] } }
}
