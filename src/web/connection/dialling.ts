/** Reaches the server again and again until it is there, sooner when something suggests that it may be. */
import { type Signal, signal } from '@preact/signals'
import { type LiveSocket, openWebSocket } from './web-socket.ts'

export type Line =
  | { readonly kind: 'on' }
  /** Since when, in milliseconds. */
  | { readonly kind: 'off'; readonly since: number }
  /** The server does not know this browser, or no longer. */
  | { readonly kind: 'stranger' }

const FIRST_MS = 250
const LONGEST_MS = 15_000
const ANSWER_MS = 10_000

export class Dialling {
  readonly line: Signal<Line> = signal({ kind: 'off', since: Date.now() })
  #wake: () => void = () => undefined
  /** The next pause is left out. */
  #isHurried = false
  /** The last connection was refused or has never been: a WebSocket that is refused leaves an error in the console. */
  #mustAsk = true
  #socket: LiveSocket | undefined
  #pauseMs = FIRST_MS
  readonly #url = new URL('acp', document.baseURI)

  constructor() {
    this.#url.protocol = this.#url.protocol === 'https:' ? 'wss:' : 'ws:'
    this.#url.search = shareQuery()
    this.#url.hash = ''
    addEventListener('online', () => this.now())
    addEventListener('focus', () => this.now())
    document.addEventListener('visibilitychange', () => {
      if (document.visibilityState === 'visible') this.now()
    })
  }

  /** Resolves when there is a connection, however long that takes. */
  async dial(): Promise<LiveSocket> {
    if (this.line.value.kind === 'on') this.line.value = { kind: 'off', since: Date.now() }
    for (;;) {
      if (!this.#mustAsk || (await this.#isKnown())) {
        try {
          this.#socket = await openWebSocket(this.#url.href)
          return this.#socket
        } catch {
          // A browser does not tell a page why; a request of the same credential does.
          this.#mustAsk = true
        }
      }
      await this.pause()
    }
  }

  /** A connection of the client is up. */
  connected(): void {
    this.#mustAsk = false
    this.#pauseMs = FIRST_MS
    this.line.value = { kind: 'on' }
  }

  /** Does not wait out the pause; a connection that may be dead must answer soon. */
  now(): void {
    this.#isHurried = true
    this.#wake()
    this.#socket?.probe()
  }

  /** Before the next attempt; longer each time until one succeeds. */
  async pause(): Promise<void> {
    // All pages of a server that was gone would otherwise come back at the same moment.
    const ms = this.#pauseMs * (0.75 + Math.random() / 2)
    this.#pauseMs = Math.min(this.#pauseMs * 2, LONGEST_MS)
    if (!this.#isHurried)
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms)
        this.#wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    this.#isHurried = false
  }

  /** False when the server says that it does not know this browser. */
  async #isKnown(): Promise<boolean> {
    try {
      const url = new URL(`device${shareQuery()}`, document.baseURI)
      const response = await fetch(url, { method: 'POST', signal: AbortSignal.timeout(ANSWER_MS) })
      const isKnown = !response.ok || ((await response.json()) as { readonly known?: boolean }).known !== false
      if (isKnown === (this.line.value.kind === 'stranger'))
        this.line.value = isKnown ? { kind: 'off', since: Date.now() } : { kind: 'stranger' }
      return isKnown
    } catch {
      // The server does not answer, and neither would it answer a WebSocket.
      if (this.line.value.kind === 'stranger') this.line.value = { kind: 'off', since: Date.now() }
      return false
    }
  }
}

/** By which the server knows which of a browser's credentials is meant. */
function shareQuery(): string {
  const share = new URLSearchParams(location.search).get('share')
  return share === null ? '' : `?share=${encodeURIComponent(share)}`
}
