/** The connection of a page: one WebSocket, each frame one or more messages as lines. */
import type { ClientTransport } from '../../client/connection/transport.ts'

/** Ours: a frame may hold many messages. */
const MANY_LINES = 'parley.lines.v1'
/** A browser opens one handshake per host at a time, so one that hangs must be given up for the next to begin. */
const HANDSHAKE_MS = 10_000

/** Throws when there is no answer in time, or none that is a WebSocket. */
export function openWebSocket(url: string): Promise<ClientTransport> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url, MANY_LINES)
    const transport = new WebSocketLines(socket)
    const timer = setTimeout(() => socket.close(), HANDSHAKE_MS)
    socket.onopen = () => {
      clearTimeout(timer)
      resolve(transport)
    }
    socket.onclose = ({ code, reason }) => {
      clearTimeout(timer)
      transport.ended()
      reject(new Error(reason === '' ? `closed with ${code}` : reason))
    }
  })
}

class WebSocketLines implements ClientTransport {
  readonly #socket: WebSocket
  #lines: string[] = []
  #hasEnded = false
  #wake: () => void = () => undefined

  constructor(socket: WebSocket) {
    this.#socket = socket
    socket.onmessage = ({ data }: MessageEvent<unknown>) => {
      if (typeof data !== 'string') return
      this.#lines.push(...data.split('\n').filter((line) => line !== ''))
      this.#wake()
    }
  }

  get messages(): AsyncIterable<string> {
    return this.#messages()
  }

  send(message: string): void {
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(message)
  }

  close(): void {
    this.#socket.close()
    this.ended()
  }

  ended(): void {
    this.#hasEnded = true
    this.#wake()
  }

  async *#messages(): AsyncGenerator<string> {
    for (;;) {
      const lines = this.#lines
      this.#lines = []
      yield* lines
      if (this.#lines.length > 0) continue
      if (this.#hasEnded) return
      await new Promise<void>((resolve) => (this.#wake = resolve))
    }
  }
}
