/** A client on the bare socket that goes on where it was whenever its connection is lost, with nothing of ours between. */
import { setTimeout as sleep } from 'node:timers/promises'
import { type Fields, type Message, updatesIn } from '../../e2e/message.ts'
import { RawSocket } from '../../e2e/raw-socket.ts'

export class Goer {
  readonly #path: string
  readonly #opening: Fields
  readonly #connections: RawSocket[] = []
  readonly #prompts = new Map<string, string>()
  readonly #listener: ((message: Message, on: RawSocket) => void) | undefined
  #isDone = false

  private constructor(path: string, opening: Fields, listener?: (message: Message, on: RawSocket) => void) {
    this.#path = path
    this.#opening = opening
    this.#listener = listener
  }

  static async join(path: string, opening: Fields): Promise<Goer> {
    const goer = new Goer(path, opening)
    const connection = await RawSocket.open(path)
    goer.#connections.push(connection)
    await connection.request('session/load', opening)
    void goer.#goOn(connection)
    return goer
  }

  /** One that comes when it is quiet again: its load is answered in words, or it is none. */
  static async visit(
    path: string,
    opening: Fields,
    listener: (message: Message, on: RawSocket) => void,
  ): Promise<Goer> {
    const goer = new Goer(path, opening, listener)
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
    const message = { jsonrpc: '2.0', id: requestId, method: 'session/prompt', params }
    this.#connections.at(-1)?.socket.write(`${JSON.stringify(message)}\n`)
  }

  answersTo(requestId: string): readonly Message[] {
    return this.received.filter(({ id, method }) => id === requestId && method === undefined)
  }

  async answered(requestId: string): Promise<void> {
    while (this.answersTo(requestId).length === 0 && !this.#isDone) await sleep(20)
  }

  cut(): void {
    this.#connections.at(-1)?.socket.destroy()
  }

  leave(): void {
    this.#isDone = true
    this.cut()
  }

  async #goOn(lost: RawSocket): Promise<void> {
    await lost.closed
    while (!this.#isDone) {
      const next = await this.#resumed().catch(() => undefined)
      if (next !== undefined) return this.#goOn(next)
      await sleep(50)
    }
  }

  /** Nobody listens yet, or whoever did is gone again: then the next attempt has the same to ask. */
  async #resumed(): Promise<RawSocket> {
    const after = updatesIn(this.received).reduce((most, { seq }) => Math.max(most, seq), 0)
    const open = [...this.#prompts].filter(([requestId]) => this.answersTo(requestId).length === 0)
    const prompts = open.map(([requestId, promptId]) => ({ requestId, promptId }))
    const _meta = { 'parley/prompts': prompts }
    return this.#opened('session/resume', { ...this.#opening, _meta: { ..._meta, 'parley/after': after } })
  }

  async #opened(method: string, opening: Fields): Promise<RawSocket> {
    const connection = await RawSocket.open(this.#path)
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
