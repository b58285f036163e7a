/** The connection to a remote server over WebSocket for `connect`: it is restored by itself when it is lost. */
import type { ConnectionDeps } from './reconnecting-connection.ts'
import { Redialling } from './redialling.ts'
import { type LiveSocket, type SocketClock, type WebSocketLike, openWebSocket } from './web-socket.ts'

export interface WebSocketOptions {
  /** Of `parley token add`; absent in a page that has a cookie. */
  readonly token?: string
  /** Opens the socket where the language has none, as in Node 20: `(url, protocols) => new WebSocket(url, protocols)` of `ws`. */
  readonly open?: (url: string, protocols: readonly string[]) => WebSocketLike
}

/** Passed to `connect`. */
export interface WebSocketConnection extends ConnectionDeps {
  /** The network or the device has come back: tries at once, and gives up a connection that only looks alive. */
  now(): void
}

/**
 * `url` as `parley serve` prints it, such as `wss://studio.example/acp`. The first attempt fails where there is no server;
 * a connection that is lost later is dialled again for as long as that takes, and every open session continues where it was.
 */
export function overWebSocket(url: string, { token, open = openStandard }: WebSocketOptions = {}): WebSocketConnection {
  const socket = (): Promise<LiveSocket> => openWebSocket((protocols) => open(url, protocols), webClock, token)
  const redialling = new Redialling({ open: socket, clock: webClock, chance: () => Math.random() })
  let wasUp = false
  return {
    async dial() {
      const transport = await (wasUp ? redialling.dial() : redialling.try())
      wasUp = true
      redialling.connected()
      return transport
    },
    pause: (ms) => new Promise((resolve) => webClock.after(ms, resolve)),
    leave: () => redialling.stop(),
    comesBack: true,
    newId: randomHexId,
    now: () => redialling.now(),
  }
}

export const webClock: SocketClock = {
  now: () => Date.now(),
  after(ms, run) {
    const timer = setTimeout(run, ms)
    return () => clearTimeout(timer)
  },
}

function openStandard(url: string, protocols: readonly string[]): WebSocketLike {
  return new WebSocket(url, [...protocols])
}

/** Works on pages without TLS too, where `randomUUID` is missing. */
export function randomHexId(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}
