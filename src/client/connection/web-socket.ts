/** A connection over one WebSocket: each frame has one or more messages as lines. It is given up when it is dead. */
import type { ClientTransport } from './transport.ts'

/** Ours: a frame may hold many messages. */
const MANY_LINES = 'parley.lines.v1'
/** A browser opens one handshake per host at a time, so one that hangs must be given up for the next to begin. */
const HANDSHAKE_MS = 10_000
/** The server sends something every twenty seconds, so a connection that is silent for this long is dead. */
const SILENCE_MS = 45_000
const CHECK_MS = 5_000
/** How long the answer to a probe may take. */
const PROBE_MS = 3_000
/** Its answer is no response to anything that the client has asked. */
const PROBE = '{"jsonrpc":"2.0","id":"probe","method":"_parley/ping","params":{}}'

/** The common part of a browser's WebSocket and of the one of the package `ws`. */
export interface WebSocketLike {
  readonly readyState: number
  onopen: ((event: never) => void) | null
  onmessage: ((event: never) => void) | null
  onclose: ((event: never) => void) | null
  onerror: ((event: never) => void) | null
  send(text: string): void
  close(): void
}

const OPEN = 1

/** The time of day, since timers do not count the time that a device sleeps; and timers. */
export interface SocketClock {
  now(): number
  /** Returns how to call it off. */
  after(ms: number, run: () => void): () => void
}

export interface Closing {
  readonly code: number
  readonly reason: string
}

export interface LiveSocket extends ClientTransport {
  /** Gives the connection up unless the server sends something soon. After a device has slept, its sockets only look alive. */
  probe(): void
  /** How the server closed it; undefined while it is open, or where nothing was said. */
  readonly closing: Closing | undefined
}

/** Opens a socket with these subprotocols. */
export type OpenSocket = (protocols: readonly string[]) => WebSocketLike

/** Without a cookie, `token` goes as a subprotocol, which is never echoed. Throws when there is no answer in time, or none that is a WebSocket. */
export function openWebSocket(open: OpenSocket, clock: SocketClock, token?: string): Promise<LiveSocket> {
  return new Promise((resolve, reject) => {
    const socket = open([MANY_LINES, 'acp.v1', ...(token === undefined ? [] : [`bearer.${token}`])])
    const transport = new WebSocketLines(socket, clock)
    const giveUp = (why: string): void => {
      stopTimer()
      transport.ended()
      reject(new Error(why))
    }
    const stopTimer = clock.after(HANDSHAKE_MS, () => {
      socket.close()
      giveUp('the handshake was not answered')
    })
    socket.onopen = () => {
      stopTimer()
      transport.watch()
      resolve(transport)
    }
    // The reason follows with the close event, if there is one.
    socket.onerror = ({ message }: { readonly message?: string }) => {
      if (message !== undefined && message !== '') giveUp(message)
    }
    socket.onclose = (closing: Closing) => {
      transport.closed(closing)
      giveUp(closing.reason === '' ? `closed with ${closing.code}` : closing.reason)
    }
  })
}

class WebSocketLines implements LiveSocket {
  readonly #socket: WebSocketLike
  readonly #clock: SocketClock
  #lines: string[] = []
  #hasEnded = false
  #closing: Closing | undefined
  #heardAt: number
  #wake: () => void = () => undefined
  #stopWatching: () => void = () => undefined
  #stopProbe: (() => void) | undefined

  constructor(socket: WebSocketLike, clock: SocketClock) {
    this.#socket = socket
    this.#clock = clock
    this.#heardAt = clock.now()
    socket.onmessage = ({ data }: { readonly data: unknown }) => {
      this.#heardAt = clock.now()
      if (typeof data !== 'string') return
      this.#lines.push(...data.split('\n').filter((line) => line !== ''))
      this.#wake()
    }
  }

  get messages(): AsyncIterable<string> {
    return this.#messages()
  }

  get closing(): Closing | undefined {
    return this.#closing
  }

  send(message: string): void {
    if (this.#socket.readyState === OPEN) this.#socket.send(message)
  }

  close(): void {
    this.#socket.close()
    this.ended()
  }

  closed(closing: Closing): void {
    this.#closing ??= closing
  }

  ended(): void {
    this.#stopWatching()
    this.#stopProbe?.()
    this.#hasEnded = true
    this.#wake()
  }

  watch(): void {
    this.#heardAt = this.#clock.now()
    const check = (): void => {
      if (this.#clock.now() - this.#heardAt > SILENCE_MS) this.close()
      else this.#stopWatching = this.#clock.after(CHECK_MS, check)
    }
    this.#stopWatching = this.#clock.after(CHECK_MS, check)
  }

  probe(): void {
    if (this.#hasEnded || this.#stopProbe !== undefined) return
    const askedAt = this.#clock.now()
    this.send(PROBE)
    this.#stopProbe = this.#clock.after(PROBE_MS, () => {
      this.#stopProbe = undefined
      if (this.#heardAt < askedAt) this.close()
    })
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
