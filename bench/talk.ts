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
  readonly firstUpdateMs: number
}

export class Talk {
  readonly #output: Writable
  #received: Buffer[] = []
  #onData: (() => void) | undefined
  #lastId = 0
  #gone = false

  constructor(input: Readable, output: Writable) {
    this.#output = output
    input.on('data', (bytes: Buffer) => {
      this.#received.push(bytes)
      this.#onData?.()
    })
    input.on('close', () => {
      this.#gone = true
      this.#onData?.()
    })
    output.on('error', () => {
      // The other side was killed; whoever waits for it sees it close.
    })
  }

  /** Only one request at a time. Throws when it is refused. */
  async request(method: string, params: object): Promise<Answer> {
    this.#lastId += 1
    const marker = `{"jsonrpc":"2.0","id":${this.#lastId},`
    this.#received = []
    const start = performance.now()
    this.#output.write(`${JSON.stringify({ jsonrpc: '2.0', id: this.#lastId, method, params })}\n`)
    const firstUpdateMs = await this.#until(() => this.#received.length > 0, start)
    const ms = await this.#until(() => this.#ends(marker), start)
    return this.#answer(marker, { ms, firstUpdateMs })
  }

  async initialize(): Promise<Answer> {
    return this.request('initialize', { protocolVersion: 1 })
  }

  async newSession(cwd: string, mcpServers: readonly object[] = []): Promise<string> {
    const { text } = await this.request('session/new', { cwd, mcpServers })
    return (JSON.parse(text) as { result: { sessionId: string } }).result.sessionId
  }

  prompt(sessionId: string): Promise<Answer> {
    return this.request('session/prompt', { sessionId, prompt: [{ type: 'text', text: 'go' }] })
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
    return { text, updates: linesIn(all.subarray(0, at)), ...times }
  }
}

function linesIn(bytes: Buffer): number {
  let lines = 0
  for (let at = bytes.indexOf(NEWLINE); at !== -1; at = bytes.indexOf(NEWLINE, at + 1)) lines += 1
  return lines
}
