/** A raw client on the server's socket. */
import { once } from 'node:events'
import { type Socket, connect } from 'node:net'
import { RawConnection } from '../wire/raw-connection.ts'
import type { Fields } from './message.ts'

/** Beyond ACP. */
export interface Wishes {
  readonly agent?: string
  readonly notifications?: readonly string[]
  /** What it can do for its agent. */
  readonly capabilities?: Fields
}

export class RawSocket extends RawConnection {
  readonly socket: Socket
  /** Resolves when the server has closed its side. */
  readonly closed: Promise<void>

  constructor(socket: Socket) {
    super(socket, socket)
    this.socket = socket
    this.closed = new Promise((resolve) => {
      socket.on('close', () => {
        this.finish()
        resolve()
      })
    })
  }

  /** Connected, and past the first exchange. */
  static async open(path: string, { agent, notifications = [], capabilities = {} }: Wishes = {}): Promise<RawSocket> {
    const client = new RawSocket(await connected(path))
    await client.request('initialize', {
      protocolVersion: 1,
      clientCapabilities: { ...capabilities, _meta: { 'parley/notifications': notifications } },
      ...(agent === undefined ? {} : { _meta: { 'parley/agent': agent } }),
    })
    return client
  }

  cut(): void {
    this.socket.destroy()
  }

  async leave(): Promise<void> {
    this.cut()
    await this.closed
  }
}

export async function connected(path: string): Promise<Socket> {
  const socket = connect(path)
  await once(socket, 'connect')
  return socket
}
