/**
 * Connections that have shown no credential yet. Anyone who reaches the port can open thousands of them, so the oldest
 * make room for the newest, and a client with a credential still gets in.
 */
import type { Socket } from 'node:net'

/** Of one port, at once. */
const MAX_SILENT_SOCKETS = 1_024

/** The addresses and ports that identify a connection also below TLS and HTTP/2. */
type Ends = Pick<Socket, 'remoteAddress' | 'remotePort'>

export class SilentSockets {
  /** The oldest first. */
  readonly #sockets = new Map<string, Socket>()

  add(socket: Socket): void {
    const key = keyOf(socket)
    this.#sockets.set(key, socket)
    socket.once('close', () => this.#forget(key, socket))
    if (this.#sockets.size <= MAX_SILENT_SOCKETS) return
    const [[oldestKey, oldest] = []] = this.#sockets
    if (oldestKey !== undefined) this.#sockets.delete(oldestKey)
    oldest?.destroy()
  }

  /** A credential was shown on it. */
  admitted(ends: Ends): void {
    this.#sockets.delete(keyOf(ends))
  }

  #forget(key: string, socket: Socket): void {
    if (this.#sockets.get(key) === socket) this.#sockets.delete(key)
  }
}

function keyOf({ remoteAddress = '', remotePort = 0 }: Ends): string {
  return `${remoteAddress} ${remotePort}`
}
