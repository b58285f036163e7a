/** A client of our own for tests: it writes raw lines to a child's stdin and keeps every line that came back; no SDK between. */
import type { ChildProcessWithoutNullStreams } from 'node:child_process'
import type { Fields, Message } from './message.ts'

export interface Exit {
  readonly code: number | null
  readonly signal: string | null
}

type Listener = (message: Message) => void

export class RawClient {
  readonly child: ChildProcessWithoutNullStreams
  /** Everything on stdout so far, in order. */
  readonly received: Message[] = []
  /** Resolves when the process is gone and all that it wrote has been read. */
  readonly exited: Promise<Exit>
  /** Why stdout is not what it must be: a line that is no JSON, bytes that are no UTF-8. */
  readonly impurities: string[] = []
  stderr = ''
  /** The method of each request that was sent, by its id. */
  readonly asked = new Map<Message['id'], string>()
  readonly #listeners = new Set<Listener>()
  readonly #utf8 = new TextDecoder('utf-8', { fatal: true })
  #rest = ''
  #lastId = 0
  #gone = false

  constructor(child: ChildProcessWithoutNullStreams) {
    this.child = child
    child.stdout.on('data', (bytes: Buffer) => this.#read(bytes))
    child.stderr.setEncoding('utf8').on('data', (text: string) => (this.stderr += text))
    child.stdin.on('error', () => {
      // The process is gone; whoever waits for an answer hears of it by `exited`.
    })
    this.exited = new Promise((resolve) => {
      child.on('close', (code, signal) => {
        this.#gone = true
        resolve({ code, signal })
        for (const listener of this.#listeners) listener({ jsonrpc: 'gone' })
      })
    })
  }

  /** Whether the process has ended. */
  get gone(): boolean {
    return this.#gone
  }

  /** What came after the last newline. */
  get unfinishedLine(): string {
    return this.#rest
  }

  write(raw: string | Uint8Array): void {
    this.child.stdin.write(raw)
  }

  send(message: Fields): void {
    this.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  }

  notify(method: string, params: Fields): void {
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

  /** The response, result or error. Rejects when the process ends without one. */
  request(method: string, params: Fields): Promise<Message> {
    return this.answerTo(this.ask(method, params))
  }

  answerTo(id: Message['id']): Promise<Message> {
    return this.until((message) => message.id === id && message.method === undefined)
  }

  /** The first message, received already or yet to come, that fits. */
  until(fits: (message: Message) => boolean): Promise<Message> {
    const known = this.received.find(fits)
    if (known !== undefined) return Promise.resolve(known)
    return new Promise((resolve, reject) => {
      const listener = (message: Message): void => {
        const gone = message.jsonrpc === 'gone'
        if (!gone && !fits(message)) return
        stop()
        if (gone) reject(new Error(`the process ended before that; stderr: ${this.stderr.slice(-500)}`))
        else resolve(message)
      }
      const stop = this.listen(listener)
      if (this.#gone) listener({ jsonrpc: 'gone' })
    })
  }

  /** Calls `listener` for each message from now on; returns how to stop that. */
  listen(listener: Listener): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  closeStdin(): void {
    this.child.stdin.end()
  }

  /** `kill -9`; resolves when what was in the pipe has been read. */
  async kill(): Promise<Exit> {
    this.child.kill('SIGKILL')
    return this.exited
  }

  /** Closes stdin and waits for the process to end by itself. */
  async leave(): Promise<Exit> {
    this.closeStdin()
    return this.exited
  }

  #read(bytes: Buffer): void {
    const lines = (this.#rest + this.#decode(bytes)).split('\n')
    this.#rest = lines.pop() ?? ''
    for (const line of lines) this.#take(line)
  }

  #decode(bytes: Buffer): string {
    try {
      return this.#utf8.decode(bytes, { stream: true })
    } catch (error) {
      this.impurities.push(String(error))
      return bytes.toString('latin1')
    }
  }

  #take(line: string): void {
    try {
      const message = JSON.parse(line) as Message
      this.received.push(message)
      for (const listener of this.#listeners) listener(message)
    } catch {
      // Kept for the test to fail on.
      this.impurities.push(line)
    }
  }
}
