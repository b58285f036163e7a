/** The connection of a page: one WebSocket, each frame one or more messages as lines. It is given up when it is dead. */
import type { ClientTransport } from '../../client/connection/transport.ts'

/** Ours: a frame may hold many messages. */
const MANY_LINES = 'parley.lines.v1'
/** A browser opens one handshake per host at a time, so one that hangs must be given up for the next to begin. */
const HANDSHAKE_MS = 10_000
/** The server says something every twenty seconds. */
const SILENCE_MS = 45_000
const CHECK_MS = 5_000
/** How long the answer to a probe may take. */
const PROBE_MS = 3_000
/** Its answer is no response to anything that the client has asked. */
const PROBE = '{"jsonrpc":"2.0","id":"probe","method":"_parley/ping","params":{}}'

export interface LiveSocket extends ClientTransport {
  /** Gives the connection up unless the server says something soon: a device that slept has sockets that look alive. */
  probe(): void
}

/** Throws when there is no answer in time, or none that is a WebSocket. */
export function openWebSocket(url: string): Promise<LiveSocket> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url, MANY_LINES)
    const transport = new WebSocketLines(socket)
    const giveUp = (why: string): void => {
      clearTimeout(timer)
      transport.ended()
      reject(new Error(why))
    }
    const timer = setTimeout(() => {
      socket.close()
      giveUp('the handshake was not answered')
    }, HANDSHAKE_MS)
    socket.onopen = () => {
      clearTimeout(timer)
      transport.watch()
      resolve(transport)
    }
    socket.onclose = ({ code, reason }) => giveUp(reason === '' ? `closed with ${code}` : reason)
  })
}

class WebSocketLines implements LiveSocket {
  readonly #socket: WebSocket
  #lines: string[] = []
  #hasEnded = false
  #heardAt = Date.now()
  #wake: () => void = () => undefined
  #watch: ReturnType<typeof setInterval> | undefined
  #probe: ReturnType<typeof setTimeout> | undefined

  constructor(socket: WebSocket) {
    this.#socket = socket
    socket.onmessage = ({ data }: MessageEvent<unknown>) => {
      this.#heardAt = Date.now()
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
    clearInterval(this.#watch)
    clearTimeout(this.#probe)
    this.#hasEnded = true
    this.#wake()
  }

  /** By the clock of the day: timers do not count the time that a device sleeps. */
  watch(): void {
    this.#heardAt = Date.now()
    this.#watch = setInterval(() => {
      if (Date.now() - this.#heardAt > SILENCE_MS) this.close()
    }, CHECK_MS)
  }

  probe(): void {
    if (this.#hasEnded || this.#probe !== undefined) return
    const askedAt = Date.now()
    this.send(PROBE)
    this.#probe = setTimeout(() => {
      this.#probe = undefined
      if (this.#heardAt < askedAt) this.close()
    }, PROBE_MS)
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
