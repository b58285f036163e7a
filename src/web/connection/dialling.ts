/** The connection of the page: dialled again until it is there, and shown as a line that is on or off. */
import { type Signal, signal } from '@preact/signals'
import { webClock } from '../../client/connection/over-web-socket.ts'
import { Redialling } from '../../client/connection/redialling.ts'
import { type LiveSocket, openWebSocket } from '../../client/connection/web-socket.ts'

export type Line =
  | { readonly kind: 'on' }
  /** Since when, in milliseconds; and whether the server answers all the same, so that only the WebSocket is refused. */
  | { readonly kind: 'off'; readonly since: number; readonly isRefused?: boolean }
  /** The server does not know this browser, or no longer. */
  | { readonly kind: 'stranger' }

const ANSWER_MS = 10_000

export class Dialling {
  readonly line: Signal<Line> = signal({ kind: 'off', since: Date.now() })
  readonly #url = new URL('acp', document.baseURI)
  /** The server has answered since the last connection was there. */
  #isAnswered = false
  readonly #redialling = new Redialling({
    open: () => this.#open(),
    mayOpen: () => this.#isKnown(),
    clock: webClock,
    chance: () => Math.random(),
  })

  constructor() {
    this.#url.protocol = this.#url.protocol === 'https:' ? 'wss:' : 'ws:'
    this.#url.search = shareQuery()
    this.#url.hash = ''
    // A server of this machine or network may still answer; else the connection is given up soon.
    for (const change of ['online', 'offline'] as const) addEventListener(change, () => this.now())
    addEventListener('focus', () => this.now())
    document.addEventListener('visibilitychange', () => {
      if (document.visibilityState === 'visible') this.now()
    })
  }

  /** Resolves when there is a connection, however long that takes. */
  dial(): Promise<LiveSocket> {
    if (this.line.value.kind === 'on') this.line.value = { kind: 'off', since: Date.now() }
    return this.#redialling.dial()
  }

  /** A connection of the client is up. */
  connected(): void {
    this.#redialling.connected()
    this.#isAnswered = false
    this.line.value = { kind: 'on' }
  }

  /** Does not wait out the pause; a connection that may be dead must answer soon. */
  now(): void {
    this.#redialling.now()
  }

  /** Before the next attempt; longer each time until one succeeds. */
  pause(): Promise<void> {
    return this.#redialling.pause()
  }

  async #open(): Promise<LiveSocket> {
    try {
      return await openWebSocket((protocols) => new WebSocket(this.#url.href, [...protocols]), webClock)
    } catch (error) {
      if (this.line.value.kind === 'off') this.line.value = { ...this.line.value, isRefused: this.#isAnswered }
      throw error
    }
  }

  /** False when the server says that it does not know this browser. */
  async #isKnown(): Promise<boolean> {
    try {
      const url = new URL(`device${shareQuery()}`, document.baseURI)
      const response = await fetch(url, { method: 'POST', signal: AbortSignal.timeout(ANSWER_MS) })
      this.#isAnswered = response.ok
      const isKnown = !response.ok || ((await response.json()) as { readonly known?: boolean }).known !== false
      if (isKnown === (this.line.value.kind === 'stranger'))
        this.line.value = isKnown ? { kind: 'off', since: Date.now() } : { kind: 'stranger' }
      return isKnown
    } catch {
      // The server does not answer, and neither would it answer a WebSocket.
      this.#isAnswered = false
      const line = this.line.value
      if (line.kind !== 'on') this.line.value = { kind: 'off', since: line.kind === 'off' ? line.since : Date.now() }
      return false
    }
  }
}

/** By which the server knows which of a browser's credentials is meant. */
function shareQuery(): string {
  const share = new URLSearchParams(location.search).get('share')
  return share === null ? '' : `?share=${encodeURIComponent(share)}`
}
