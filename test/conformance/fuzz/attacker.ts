/** One hostile connection: throws inputs in pieces of any size, reads all answers, and notes what no server may do. */
import { once } from 'node:events'
import { type Socket, connect } from 'node:net'
import type { Message } from '../../e2e/message.ts'

/** How long an answer may take before it counts as a hang. Milliseconds. */
const PATIENCE = 60_000

export class Attacker {
  readonly #socket: Socket
  readonly #answered = new Map<string, number>()
  readonly #waiting = new Map<string, (message: Message) => void>()
  /** What is wrong, in sentences. */
  readonly problems: string[] = []
  /** Sessions that the server has made. */
  readonly made: string[] = []
  /** What was thrown that speaks of deleting. */
  readonly thrown: string[] = []
  readonly closed: Promise<void>
  #rest = ''
  ended = false

  private constructor(socket: Socket) {
    this.#socket = socket
    socket.setEncoding('utf8').on('data', (text: string) => this.#read(text))
    socket.on('error', () => {
      // How it ended is seen by that it did.
    })
    this.closed = new Promise((resolve) => {
      socket.on('close', () => {
        this.ended = true
        for (const done of this.#waiting.values()) done({ jsonrpc: 'gone' })
        resolve()
      })
    })
  }

  static async open(path: string): Promise<Attacker> {
    const socket = connect(path)
    await once(socket, 'connect')
    return new Attacker(socket)
  }

  note(bytes: Buffer): void {
    if (bytes.length < 100_000 && bytes.includes('delete')) this.thrown.push(bytes.toString('latin1'))
  }

  /** Resolves when the server reads on. */
  async throw(bytes: Buffer): Promise<void> {
    if (!this.ended && !this.#socket.write(bytes)) await Promise.race([this.#drained(), this.closed])
  }

  #drained(): Promise<void> {
    return new Promise((resolve) => this.#socket.once('drain', () => resolve()))
  }

  ask(id: string, method: string, params: unknown): Promise<Message> {
    const answer = this.#answerTo(id, method)
    void this.throw(Buffer.from(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`))
    return answer
  }

  answersTo(id: string): number {
    return this.#answered.get(id) ?? 0
  }

  async leave(): Promise<void> {
    this.#socket.destroy()
    await this.closed
  }

  #answerTo(id: string, method: string): Promise<Message> {
    if (this.ended) return Promise.resolve({ jsonrpc: 'gone' })
    return new Promise((resolve) => {
      const timer = setTimeout(() => done({ jsonrpc: 'hangs' }), PATIENCE)
      const done = (message: Message): void => {
        clearTimeout(timer)
        this.#waiting.delete(id)
        if (message.jsonrpc !== '2.0') this.problems.push(`${method} got no answer: the connection ${message.jsonrpc}`)
        resolve(message)
      }
      this.#waiting.set(id, done)
    })
  }

  #read(text: string): void {
    const lines = (this.#rest + text).split('\n')
    this.#rest = lines.pop() ?? ''
    for (const line of lines) this.#take(line)
  }

  #take(line: string): void {
    const message = parsed(line)
    if (message?.jsonrpc !== '2.0') this.problems.push(`a line that is no message: ${line.slice(0, 200)}`)
    if (message?.error !== undefined) this.#look(line, message.error)
    const made = message?.result?.['sessionId']
    if (typeof made === 'string') this.made.push(made)
    if (message?.method !== undefined || typeof message?.id !== 'string') return
    this.#answered.set(message.id, this.answersTo(message.id) + 1)
    this.#waiting.get(message.id)?.(message)
  }

  /** An error that tells of our insides, or that we did not foresee. */
  #look(line: string, { data, message }: NonNullable<Message['error']>): void {
    if (/\bat .+\.(?:m?js|ts):\d+|node_modules/u.test(line)) this.problems.push(`a stack trace: ${line.slice(0, 300)}`)
    if (data?.['code'] === 'INTERNAL_ERROR') this.problems.push(`an error from inside: ${message}`)
  }
}

function parsed(line: string): Message | undefined {
  try {
    return JSON.parse(line) as Message
  } catch {
    // Whoever reads this complains.
    return undefined
  }
}
