/** A client of our own on the server's socket: it writes raw lines and keeps every message that came back; no SDK between. */
import { once } from 'node:events'
import { type Socket, connect } from 'node:net'
import type { Fields, Message } from './message.ts'

/** Beyond ACP. */
export interface Wishes {
  readonly agent?: string
  readonly notifications?: readonly string[]
  /** What it can do for its agent. */
  readonly capabilities?: Fields
}

export class RawSocket {
  readonly socket: Socket
  /** Everything so far, in order. */
  readonly received: Message[] = []
  /** Resolves when the server has closed its side. */
  readonly closed: Promise<void>
  readonly #listeners = new Set<(message: Message) => void>()
  #ended = false
  #rest = ''
  #lastId = 0

  private constructor(socket: Socket) {
    this.socket = socket
    socket.setEncoding('utf8').on('data', (text: string) => this.#read(text))
    socket.on('error', () => {
      // It broke, which is one way to end; whoever waits hears of that.
    })
    this.closed = new Promise((resolve) => {
      socket.on('close', () => {
        this.#ended = true
        this.socket.emit('heard')
        resolve()
      })
    })
  }

  /** Connected, and past the first exchange. */
  static async open(path: string, { agent, notifications = [], capabilities = {} }: Wishes = {}): Promise<RawSocket> {
    const socket = connect(path)
    await once(socket, 'connect')
    const client = new RawSocket(socket)
    await client.request('initialize', {
      protocolVersion: 1,
      clientCapabilities: { ...capabilities, _meta: { 'parley/notifications': notifications } },
      ...(agent === undefined ? {} : { _meta: { 'parley/agent': agent } }),
    })
    return client
  }

  send(message: Fields): void {
    this.socket.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  }

  reply(id: Message['id'], result: Fields): void {
    this.send({ id, result })
  }

  /** Calls `listener` for each message from now on. */
  listen(listener: (message: Message) => void): void {
    this.#listeners.add(listener)
  }

  ask(method: string, params: Fields): number {
    this.#lastId += 1
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

  /** The first message, received already or yet to come, that fits. */
  async until(fits: (message: Message) => boolean): Promise<Message> {
    for (;;) {
      const found = this.received.find(fits)
      if (found !== undefined) return found
      if (this.#ended)
        throw new Error(`the connection ended before that; last: ${JSON.stringify(this.received.at(-1))}`)
      await new Promise((resolve) => this.socket.once('heard', resolve))
    }
  }

  async leave(): Promise<void> {
    this.socket.destroy()
    await this.closed
  }

  #read(text: string): void {
    const lines = (this.#rest + text).split('\n')
    this.#rest = lines.pop() ?? ''
    for (const message of lines.map((line) => JSON.parse(line) as Message)) {
      this.received.push(message)
      for (const listener of this.#listeners) listener(message)
    }
    this.socket.emit('heard')
  }
}
