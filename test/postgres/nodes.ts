/** The nodes of a cluster as processes, each with a state directory of its own, and raw clients at any of them. */
import { join } from 'node:path'
import { Cli } from '../e2e/cli.ts'
import type { Message } from '../e2e/message.ts'
import { textOf, updatesIn } from '../e2e/message.ts'
import { freshDirectory } from '../e2e/parley.ts'
import { RawSocket, type Wishes } from '../e2e/raw-socket.ts'

export type Environment = Readonly<Record<string, string>>

export class TestNode {
  readonly name: string
  readonly home: string
  readonly env: Environment
  readonly #options: readonly string[]
  #server: Cli | undefined

  /** `options` of `parley serve`. */
  constructor(name: string, env: Environment, options: readonly string[] = []) {
    this.name = name
    this.home = join(freshDirectory(), 'home')
    this.#options = options
    this.env = { ...env, PARLEY_NODE: name }
  }

  static async start(name: string, env: Environment, options: readonly string[] = []): Promise<TestNode> {
    const node = new TestNode(name, env, options)
    await node.start()
    return node
  }

  get socket(): string {
    return join(this.home, 'server.sock')
  }

  get server(): Cli {
    if (this.#server === undefined) throw new Error(`node ${this.name} was not started`)
    return this.#server
  }

  /** For commands on its machine. */
  get run(): { readonly home: string; readonly env: Environment } {
    return { home: this.home, env: this.env }
  }

  async start(): Promise<void> {
    this.#server = new Cli(['serve', ...this.#options], { home: this.home, agent: 'guide', env: this.env })
    await this.#server.until('listens on')
  }

  async client(wishes: Wishes = {}): Promise<RawSocket> {
    return RawSocket.open(this.socket, wishes)
  }

  async kill(): Promise<void> {
    this.server.child.kill('SIGKILL')
    await this.server.finished
  }

  /** In order. */
  async stop(): Promise<void> {
    this.server.child.kill('SIGTERM')
    await this.server.finished
  }
}

export async function openedBy(client: RawSocket, cwd: string, meta?: object): Promise<string> {
  const params = { cwd, mcpServers: [], ...(meta !== undefined && { _meta: meta }) }
  const { result, error } = await client.request('session/new', params)
  if (result === undefined) throw new Error(`session/new was refused: ${JSON.stringify(error)}`)
  return String(result['sessionId'])
}

export function said(messages: readonly Message[], sessionId: string): string {
  return updatesIn(messages, sessionId)
    .filter(({ update }) => update.sessionUpdate === 'agent_message_chunk')
    .map(textOf)
    .join('')
}

/** The entries that a client has seen of a session, in their order. */
export function cursorsIn(messages: readonly Message[], sessionId: string): readonly number[] {
  return updatesIn(messages, sessionId).map(({ seq }) => seq)
}
