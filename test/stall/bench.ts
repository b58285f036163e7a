/** A server of the real binary, a client that feeds it one input after another, and another client that measures its waits. */
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { socketPathOf } from '../../src/config/socket.ts'
import { runs, until } from '../fixtures/process/running.ts'
import { type Fields, type Message, allowing } from '../e2e/message.ts'
import { RawSocket } from '../e2e/raw-socket.ts'
import { type Place, openSession, startInBackground } from '../e2e/server.ts'

const OBSERVER = new URL('observer.mjs', import.meta.url)
const MCP_SERVER = new URL('../fixtures/mcp/stdio-server.mjs', import.meta.url).pathname

export class StallBench implements AsyncDisposable {
  readonly #directory = mkdtempSync(join(tmpdir(), 'parley-stall-'))
  #place: Place | undefined
  #pid = 0
  #observer: Worker | undefined
  #client: RawSocket | undefined
  #sessions = 0

  async open(): Promise<void> {
    this.#sessions += 1
    const home = join(this.#directory, `home${this.#sessions}`)
    const cwd = join(this.#directory, 'work')
    mkdirSync(cwd, { recursive: true })
    this.#place = { home, socket: socketPathOf(home), cwd, agent: 'guide' }
    this.#pid = await startInBackground(this.#place, { PARLEY_MAX_STALL_SECONDS: '0' })
    this.#observer = new Worker(OBSERVER, { workerData: { socket: this.#place.socket } })
    this.#client = await this.connect()
  }

  get client(): RawSocket {
    return this.#client ?? unopened()
  }

  get pid(): number {
    return this.#pid
  }

  /** One more client, whose questions are all answered with yes. */
  async connect(): Promise<RawSocket> {
    const { socket, agent } = this.#place ?? unopened()
    const capabilities = { elicitation: { form: {} } }
    const client = await RawSocket.open(socket, { agent, capabilities })
    client.listen((message) => agree(client, message))
    return client
  }

  /** The longest wait of the other client since the last call, in milliseconds. */
  async longestWait(): Promise<number> {
    const observer = this.#observer ?? unopened()
    const told = once(observer, 'message') as Promise<[number]>
    observer.postMessage('tell')
    return (await told)[0]
  }

  /** A session in a directory of its own with these files. */
  async session(
    files: Readonly<Record<string, string | Uint8Array>> = {},
    mcp: readonly Fields[] = [],
  ): Promise<string> {
    return (await this.sessionIn(this.directory(files), mcp)).id
  }

  async sessionIn(cwd: string, mcp: readonly Fields[] = []): Promise<{ readonly id: string; readonly cwd: string }> {
    const place = { ...(this.#place ?? unopened()), cwd }
    return { id: await openSession(this.client, place, mcp), cwd }
  }

  directory(files: Readonly<Record<string, string | Uint8Array>>): string {
    this.#sessions += 1
    const cwd = join(this.#directory, `cwd${this.#sessions}`)
    mkdirSync(cwd)
    for (const [name, content] of Object.entries(files)) {
      mkdirSync(dirname(join(cwd, name)), { recursive: true })
      writeFileSync(join(cwd, name), content)
    }
    return cwd
  }

  /** A scripted MCP server with these options. */
  mcpServer(name: string, options: Fields): Fields {
    const file = join(this.directory({ 'options.json': JSON.stringify(options) }), 'options.json')
    return { name, command: process.execPath, args: [MCP_SERVER, `@${file}`], env: [] }
  }

  prompt(sessionId: string, text: string): Promise<Message> {
    return this.client.request('session/prompt', { sessionId, prompt: [{ type: 'text', text }] })
  }

  call(sessionId: string, tool: string, args: unknown): Promise<Message> {
    return this.prompt(sessionId, `/call ${tool} ${JSON.stringify(args)}`)
  }

  async close(): Promise<void> {
    await this.#observer?.terminate()
    this.#client?.socket.destroy()
    if (runs(this.#pid)) process.kill(this.#pid, 'SIGKILL')
    await until(() => !runs(this.#pid), 20_000)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
    rmSync(this.#directory, { recursive: true, force: true, maxRetries: 3 })
  }
}

function agree(client: RawSocket, message: Message): void {
  const { id, method } = message
  if (method === 'session/request_permission')
    client.reply(id, { outcome: { outcome: 'selected', optionId: allowing(message) } })
  if (method === 'elicitation/create') client.reply(id, { action: 'accept', content: { v: `${'a'.repeat(60)}!` } })
}

function unopened(): never {
  throw new Error('the bench is not open')
}
