/**
 * The one raw client of all tests: it writes lines and keeps every message that came back, with no SDK and no code of ours
 * between, so nothing is checked, stripped or defaulted. What carries the bytes is a subclass: a process, a socket, a pipe.
 */
import type { Readable, Writable } from 'node:stream'
import type { Fields, Message } from '../e2e/message.ts'
import { PATIENCE_MS } from './once-soon.ts'

type Listener = (message: Message) => void

/** Of a stream that breaks, and of an answer that does not come: what waits for it is refused. */
function isAnEnd(): void {
  // Nothing to do here.
}

export abstract class RawConnection {
  /** Every message so far, in order. */
  readonly received: Message[] = []
  /** The method of each request that was sent, by its id. */
  readonly asked = new Map<Message['id'], string>()
  readonly #input: Writable
  readonly #output: Readable
  readonly #listeners = new Set<Listener>()
  readonly #waiting = new Set<() => void>()
  readonly #utf8 = new TextDecoder('utf-8', { fatal: true })
  readonly #onData = (bytes: Buffer): void => this.#read(bytes)
  #rest: string
  #lastId = 0
  #isEnded = false

  /** `rest` is what came of a line while another had the connection. */
  protected constructor(input: Writable, output: Readable, rest = '') {
    this.#input = input
    this.#output = output
    this.#rest = rest
    output.on('data', this.#onData)
    // Streams pass from one connection to the next: one listener is enough for each.
    for (const stream of new Set([input, output])) if (stream.listenerCount('error') === 0) stream.on('error', isAnEnd)
  }

  /** Whether the other side has ended. */
  get isEnded(): boolean {
    return this.#isEnded
  }

  /** What came after the last newline. */
  get unfinishedLine(): string {
    return this.#rest
  }

  /** False when the other side has to read on first. */
  write(raw: string | Uint8Array): boolean {
    return this.#input.write(raw)
  }

  send(message: Fields): void {
    this.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  }

  notify(method: string, params?: Fields): void {
    this.send({ method, params })
  }

  reply(id: Message['id'], result: Fields): void {
    this.send({ id, result })
  }

  /** Sends a request and gives its id. */
  ask(method: string, params: Fields): number {
    this.#lastId += 1
    this.asked.set(this.#lastId, method)
    this.send({ id: this.#lastId, method, params })
    return this.#lastId
  }

  /** The response, result or error. Rejects when the connection ends without one. */
  request(method: string, params: Fields): Promise<Message> {
    return this.answerTo(this.ask(method, params))
  }

  answerTo(id: Message['id']): Promise<Message> {
    return this.until((message) => message.id === id && message.method === undefined)
  }

  /**
   * The first message, received already or yet to come, that fits. Rejects when the connection ends or is silent too long, which
   * is no error of a test that has ended by then.
   */
  until(fits: (message: Message) => boolean): Promise<Message> {
    const found = this.#until(fits)
    found.catch(isAnEnd)
    return found
  }

  /** Resolves with the next bytes or the end, whatever comes first. */
  anything(): Promise<void> {
    return new Promise((resolve) => this.#waiting.add(resolve))
  }

  /** Calls `listener` for each message from now on; returns how to stop that. */
  listen(listener: Listener): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** Leaves the connection to the next; gives the beginning of the line that is still to come. */
  detach(): string {
    this.#output.off('data', this.#onData)
    return this.#rest
  }

  /** A subclass calls this when nothing more comes. */
  protected finish(): void {
    this.#isEnded = true
    this.#wake()
  }

  /** One message that came; a subclass may look at it first, or not keep it. */
  protected heard(message: Message, _line: string): void {
    this.received.push(message)
    for (const listener of this.#listeners) listener(message)
  }

  /** A line that is no JSON, or why bytes are no UTF-8. */
  protected impure(line: string): void {
    throw new Error(`the other side sent what is no message: ${line.slice(0, 300)}`)
  }

  protected lastWords(): string {
    return JSON.stringify(this.received.at(-1))
  }

  async #until(fits: (message: Message) => boolean): Promise<Message> {
    let isLate = false
    const limit = setTimeout(() => {
      isLate = true
      this.#wake()
    }, PATIENCE_MS)
    try {
      for (let from = 0; ;) {
        const found = this.received.slice(from).find(fits)
        if (found !== undefined) return found
        if (this.#isEnded) throw new Error(`the connection ended before that; ${this.#standing()}`)
        if (isLate)
          throw new Error(`no such message came within ${PATIENCE_MS} ms: ${String(fits)}; ${this.#standing()}`)
        from = this.received.length
        await this.anything()
      }
    } finally {
      clearTimeout(limit)
    }
  }

  #standing(): string {
    const answered = new Set(this.received.filter(({ method }) => method === undefined).map(({ id }) => id))
    const open = [...this.asked].filter(([id]) => !answered.has(id)).map(([id, method]) => `${method} (${String(id)})`)
    return `unanswered: ${open.join(', ') || 'nothing'}; last: ${this.lastWords()}`
  }

  #read(bytes: Buffer): void {
    const lines = (this.#rest + this.#decode(bytes)).split('\n')
    this.#rest = lines.pop() ?? ''
    for (const line of lines) this.take(line)
    this.#wake()
  }

  #decode(bytes: Buffer): string {
    try {
      return this.#utf8.decode(bytes, { stream: true })
    } catch (error) {
      this.impure(String(error))
      return bytes.toString('latin1')
    }
  }

  /** One line that came; a subclass may put others in its place. */
  protected take(line: string): void {
    const message = parsed(line)
    if (message === undefined) this.impure(line)
    else this.heard(message, line)
  }

  #wake(): void {
    const waiting = [...this.#waiting]
    this.#waiting.clear()
    for (const resolve of waiting) resolve()
  }
}

/** Undefined for a line that is no JSON. */
export function parsed(line: string): Message | undefined {
  try {
    return JSON.parse(line) as Message
  } catch {
    // What to do about it is the subclass's matter.
    return undefined
  }
}
