/** A client on the server's socket that keeps nothing of what it is told, but counts: every word must be the one after the last. */
import { once } from 'node:events'
import { type Socket, connect } from 'node:net'
import { type Fields, type Message, textOf, updateIn } from '../e2e/message.ts'

export class CountingClient {
  /** The last word that it was told. */
  words = 0
  /** The last cursor. */
  cursor = 0
  /** Words or cursors that came out of their turn. */
  readonly misplaced: string[] = []
  isClosed = false
  readonly #socket: Socket
  #rest = ''
  #lastId = 0
  readonly #answers = new Map<number, Message>()

  private constructor(socket: Socket) {
    this.#socket = socket
    socket.setEncoding('utf8').on('data', (text: string) => this.#read(text))
    socket.on('error', () => {
      // Cut off, as `close` says next.
    })
    socket.on('close', () => {
      this.isClosed = true
      socket.emit('heard')
    })
  }

  static async open(path: string): Promise<CountingClient> {
    const socket = connect(path)
    await once(socket, 'connect')
    const client = new CountingClient(socket)
    await client.request('initialize', { protocolVersion: 1, clientCapabilities: {} })
    return client
  }

  /** Goes on where another one was. */
  takeOver({ words, cursor }: CountingClient): void {
    this.words = words
    this.cursor = cursor
  }

  async request(method: string, params: Fields): Promise<Message> {
    this.#lastId += 1
    const id = this.#lastId
    this.#socket.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`)
    await this.until(() => this.#answers.has(id))
    return this.#answers.get(id) ?? { jsonrpc: 'gone' }
  }

  /** Resolves when it is so, or the connection has ended. */
  async until(check: () => boolean): Promise<void> {
    while (!check() && !this.isClosed) await once(this.#socket, 'heard')
  }

  /** From now on it reads nothing. */
  stall(): void {
    this.#socket.pause()
  }

  readOn(): void {
    this.#socket.resume()
  }

  leave(): void {
    this.#socket.destroy()
  }

  #read(text: string): void {
    const lines = (this.#rest + text).split('\n')
    this.#rest = lines.pop() ?? ''
    for (const line of lines) this.#take(JSON.parse(line) as Message)
    this.#socket.emit('heard')
  }

  #take(message: Message): void {
    if (typeof message.id === 'number' && message.method === undefined) this.#answers.set(message.id, message)
    const seen = updateIn(message)
    if (seen?.update.sessionUpdate !== 'agent_message_chunk') return
    if (seen.seq <= this.cursor) this.misplaced.push(`seq ${seen.seq} after ${this.cursor}`)
    this.cursor = seen.seq
    for (const word of textOf(seen).trim().split(' ')) this.#count(word)
  }

  /** Each turn begins with the first word again. */
  #count(word: string): void {
    const number = Number(word.slice(1))
    if (number !== 1 && number !== this.words + 1) this.misplaced.push(`${word} after w${this.words}`)
    this.words = number
  }
}
