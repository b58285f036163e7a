/** A server under measurement, and the clients that sit on its socket. */
import { once } from 'node:events'
import { connect } from 'node:net'
import { join } from 'node:path'
import { NODE_ENVIRONMENT, NODE_FLAGS } from '../src/server/launch/launch.ts'
import { Peer, binary, settings } from './peer.ts'
import { processorMs, treeBytes, treeProcessorMs } from './proc.ts'
import { Talk } from './talk.ts'

export class Server {
  readonly #home: string
  readonly #peer: Peer

  private constructor(home: string, peer: Peer) {
    this.#home = home
    this.#peer = peer
  }

  /** `parley serve` on a state directory, listening, as commands start it. */
  static async start(home: string, script: string): Promise<Server> {
    return Server.startWith(home, { PARLEY_AGENT: `script:${script}` })
  }

  /** The same with other settings, as the environment has them. */
  static async startWith(home: string, environment: Readonly<Record<string, string>>): Promise<Server> {
    const env = { ...NODE_ENVIRONMENT, ...settings(home), ...environment }
    const peer = new Peer([...NODE_FLAGS, binary, 'serve'], env, 'ignore')
    const server = new Server(home, peer)
    while (!(await server.#accepts())) await new Promise((resolve) => setTimeout(resolve, 10))
    return server
  }

  async #accepts(): Promise<boolean> {
    const socket = connect(join(this.#home, 'server.sock'))
    const accepted = await Promise.race([
      once(socket, 'connect').then(() => true),
      once(socket, 'error').then(() => false),
    ]).catch(() => false)
    socket.destroy()
    return accepted
  }

  /** One more client, past the first exchange. */
  async client(): Promise<Talk> {
    const socket = connect(join(this.#home, 'server.sock'))
    await once(socket, 'connect')
    const talk = new Talk(socket, socket)
    await talk.initialize()
    return talk
  }

  get pid(): number | undefined {
    return this.#peer.child.pid
  }

  memory(): number {
    return this.#peer.memory()
  }

  processorMs(): number {
    return processorMs(this.#peer.child.pid)
  }

  /** With the processes that it has started. */
  treeProcessorMs(): number {
    return treeProcessorMs(this.#peer.child.pid)
  }

  /** With the processes that it has started. */
  treeBytes(): number {
    return treeBytes(this.#peer.child.pid)
  }

  kill(): Promise<void> {
    return this.#peer.kill()
  }
}
