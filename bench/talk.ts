/** A conversation under measurement: requests go in as lines; of what comes out only newlines are counted and answers recognised. */
import type { Readable, Writable } from 'node:stream'

const NEWLINE = 0x0a
/** Long enough for the beginning of an answer to be found though a read cut it. */
const TAIL = 128

/** What was received up to an answer, and when. Times are milliseconds from the request on. */
export interface Answer {
  readonly text: string
  readonly ms: number
  /** Lines that came before the answer. */
  readonly updates: number
  /** The end of the last of them that carries words. */
  readonly lastUpdate: string
  readonly firstUpdateMs: number
}

export class Talk {
  readonly #input: Readable
  readonly #output: Writable
  #received: Buffer[] = []
  #onData: (() => void) | undefined
  #lastId = 0
  #gone = false
  #keeps = true

  constructor(input: Readable, output: Writable) {
    this.#input = input
    this.#output = output
    input.on('data', (bytes: Buffer) => {
      if (this.#keeps) this.#received.push(bytes)
      this.#onData?.()
    })
    input.on('close', () => {
      this.#gone = true
      this.#onData?.()
    })
    output.on('error', () => {
      // The other side was killed; its reader sees the stream close.
    })
  }

  /** Only one request at a time. Throws when it is refused. */
  async request(method: string, params: object): Promise<Answer> {
    this.#received = []
    const start = performance.now()
    const marker = this.#send(method, params)
    const firstUpdateMs = await this.#until(() => this.#received.length > 0, start)
    const ms = await this.#until(() => this.#ends(marker), start)
    return this.#answer(marker, { ms, firstUpdateMs })
  }

  /** Reads on, and keeps nothing. */
  forget(): void {
    this.#keeps = false
    this.#received = []
  }

  /** Reads no more, as a client does that hangs. */
  pause(): void {
    this.#input.pause()
  }

  /** Returns how the line of its answer begins. */
  #send(method: string, params: object): string {
    this.#lastId += 1
    this.#output.write(`${JSON.stringify({ jsonrpc: '2.0', id: this.#lastId, method, params })}\n`)
    return `{"jsonrpc":"2.0","id":${this.#lastId},`
  }

  async initialize(): Promise<Answer> {
    return this.request('initialize', { protocolVersion: 1 })
  }

  async newSession(cwd: string, mcpServers: readonly object[] = []): Promise<string> {
    const { text } = await this.request('session/new', { cwd, mcpServers })
    return (JSON.parse(text) as { result: { sessionId: string } }).result.sessionId
  }

  prompt(sessionId: string): Promise<Answer> {
    return this.request('session/prompt', promptOf(sessionId))
  }

  /**
   * Prompts of several sessions at the same time; each piece of their answers says when it was written, as `at` and
   * milliseconds since 1970. Resolves to how many milliseconds each piece took to get here.
   */
  async promptAll(sessionIds: readonly string[]): Promise<readonly number[]> {
    const lags: number[] = []
    this.#received = []
    const first = this.#lastId + 1
    for (const sessionId of sessionIds) this.#send('session/prompt', promptOf(sessionId))
    let rest = ''
    const waiting = new Set(sessionIds.map((_, index) => `{"jsonrpc":"2.0","id":${first + index},`))
    await this.#until(() => {
      const now = Date.now()
      const text = rest + Buffer.concat(this.#received).toString()
      this.#received = []
      const end = text.lastIndexOf('\n') + 1
      rest = text.slice(end)
      const whole = text.slice(0, end)
      for (const [, at] of whole.matchAll(/at (\d{13})/g)) lags.push(now - Number(at))
      for (const line of whole.split('\n')) this.#answered(line, waiting)
      return waiting.size === 0
    }, 0)
    return lags
  }

  #answered(line: string, waiting: Set<string>): void {
    for (const marker of waiting) {
      if (!line.startsWith(marker)) continue
      if (line.includes('"error"')) throw new Error(line)
      waiting.delete(marker)
    }
  }

  /** Resolves when so many lines have come since it was called. */
  async lines(count: number): Promise<void> {
    this.#received = []
    let seen = 0
    let read = 0
    const enough = (): boolean => {
      for (; read < this.#received.length; read += 1) seen += linesIn(this.#received[read] ?? Buffer.alloc(0))
      return seen >= count
    }
    await this.#until(enough, 0)
  }

  async #until(holds: () => boolean, start: number): Promise<number> {
    while (!holds()) {
      if (this.#gone) throw new Error('it ended before it had answered')
      await new Promise<void>((resolve) => (this.#onData = resolve))
    }
    return performance.now() - start
  }

  #ends(marker: string): boolean {
    const last = Buffer.concat(this.#received.slice(-2))
    if (last.at(-1) !== NEWLINE) return false
    return this.#received.length === 1 || last.subarray(-TAIL).includes(marker) || last.includes(`\n${marker}`)
      ? Buffer.concat(this.#received).includes(marker)
      : false
  }

  #answer(marker: string, times: { readonly ms: number; readonly firstUpdateMs: number }): Answer {
    const all = Buffer.concat(this.#received)
    const at = all.lastIndexOf(marker)
    const text = all.subarray(at, all.indexOf(NEWLINE, at)).toString()
    if (text.includes('"error"')) throw new Error(text)
    return { text, updates: linesIn(all.subarray(0, at)), lastUpdate: lastChunk(all.subarray(0, at)), ...times }
  }
}

function promptOf(sessionId: string): object {
  return { sessionId, prompt: [{ type: 'text', text: 'go' }] }
}

function lastChunk(bytes: Buffer): string {
  const from = bytes.lastIndexOf('agent_message_chunk')
  return bytes
    .subarray(from, bytes.indexOf(NEWLINE, from))
    .subarray(-2 * TAIL)
    .toString()
}

function linesIn(bytes: Buffer): number {
  let lines = 0
  for (let at = bytes.indexOf(NEWLINE); at !== -1; at = bytes.indexOf(NEWLINE, at + 1)) lines += 1
  return lines
}
