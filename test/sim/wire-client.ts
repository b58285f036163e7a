/** A plain ACP client over a pipe to an owner in this process: raw lines both ways, as many clients as a test wants. */
import { PassThrough } from 'node:stream'
import { serveConnection } from '../../src/edge/acp/connection.ts'
import type { ServerContext } from '../../src/edge/acp/version.ts'
import { openStreamTransport } from '../../src/edge/transport/streams.ts'
import { type Fields, type Message, type SeenUpdate, textOf, updatesIn } from '../e2e/message.ts'

export class WireClient {
  readonly received: Message[] = []
  readonly #input = new PassThrough()
  readonly #output: PassThrough
  readonly #served: Promise<void>
  readonly #listeners = new Set<() => void>()
  #rest = ''
  #lastId = 0
  /** Whether the server has ended its side. */
  ended = false

  constructor(server: ServerContext, highWaterMark = 64 * 1024) {
    this.#output = new PassThrough({ highWaterMark })
    this.#output.setEncoding('utf8').on('data', (text: string) => this.#read(text))
    this.#output.on('close', () => this.#end())
    this.#output.on('end', () => this.#end())
    this.#served = serveConnection(openStreamTransport(this.#input, this.#output), server)
  }

  /** The server has let go of it without being asked to. */
  get isCutOff(): boolean {
    return this.#output.destroyed
  }

  /** From now on it reads nothing. */
  stall(): void {
    this.#output.pause()
  }

  readOn(): void {
    this.#output.resume()
  }

  /** What the server has written and nobody has read. */
  get owed(): number {
    return this.#output.writableLength + this.#output.readableLength
  }

  write(raw: string): void {
    this.#input.write(raw)
  }

  send(message: Fields): void {
    this.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  }

  notify(method: string, params: Fields): void {
    this.send({ method, params })
  }

  ask(method: string, params: Fields): number {
    this.#lastId += 1
    this.send({ id: this.#lastId, method, params })
    return this.#lastId
  }

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
      if (this.ended) throw new Error('the connection ended before that')
      await new Promise<void>((resolve) => {
        const listener = (): void => {
          this.#listeners.delete(listener)
          resolve()
        }
        this.#listeners.add(listener)
      })
    }
  }

  /** The latest message that fits, of those received. */
  last(method: string): Fields | undefined {
    return this.received.findLast((message) => message.method === method)?.params
  }

  all(method: string): readonly Fields[] {
    return this.received.flatMap((message) => (message.method === method ? [message.params ?? {}] : []))
  }

  get updates(): readonly SeenUpdate[] {
    return updatesIn(this.received)
  }

  get text(): string {
    return this.updates
      .filter(({ update }) => update.sessionUpdate === 'agent_message_chunk')
      .map(textOf)
      .join('')
  }

  /** It goes, as a window is closed; resolves when the server has let go of it. */
  async leave(): Promise<void> {
    this.#input.end()
    this.#output.resume()
    await this.#served
  }

  #read(text: string): void {
    const lines = (this.#rest + text).split('\n')
    this.#rest = lines.pop() ?? ''
    this.received.push(...lines.map((line) => JSON.parse(line) as Message))
    this.#tell()
  }

  #end(): void {
    this.ended = true
    this.#tell()
  }

  #tell(): void {
    for (const listener of this.#listeners) listener()
  }
}
