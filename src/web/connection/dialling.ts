/** Reaches the server again and again until it is there, sooner when something suggests that it may be. */
import { type Signal, signal } from '@preact/signals'
import type { ClientTransport } from '../../client/connection/transport.ts'
import { openWebSocket } from './web-socket.ts'

export type Line =
  | { readonly kind: 'on' }
  /** Since when, in milliseconds. */
  | { readonly kind: 'off'; readonly since: number }
  /** The server does not know this browser, or no longer. */
  | { readonly kind: 'stranger' }

const FIRST_MS = 250
const LONGEST_MS = 15_000

export class Dialling {
  readonly line: Signal<Line> = signal({ kind: 'off', since: Date.now() })
  #wake: () => void = () => undefined
  readonly #url = new URL('acp', document.baseURI)

  constructor() {
    this.#url.protocol = this.#url.protocol === 'https:' ? 'wss:' : 'ws:'
    this.#url.search = ''
    this.#url.hash = ''
    addEventListener('online', () => this.now())
    addEventListener('focus', () => this.now())
    document.addEventListener('visibilitychange', () => {
      if (document.visibilityState === 'visible') this.now()
    })
  }

  /** Resolves when there is a connection, however long that takes. */
  async dial(): Promise<ClientTransport> {
    if (this.line.value.kind === 'on') this.line.value = { kind: 'off', since: Date.now() }
    for (let wait = FIRST_MS; ; wait = Math.min(wait * 2, LONGEST_MS)) {
      try {
        return await openWebSocket(this.#url.href)
      } catch {
        // A browser does not tell a page why; a request of the same credential does.
        await this.#ask()
      }
      // All pages of a server that was gone would otherwise come back at the same moment.
      await this.#pause(wait * (0.75 + Math.random() / 2))
    }
  }

  connected(): void {
    this.line.value = { kind: 'on' }
  }

  /** Does not wait out the pause. */
  now(): void {
    this.#wake()
  }

  async #ask(): Promise<void> {
    try {
      const { status } = await fetch(new URL('acp', document.baseURI), { cache: 'no-store' })
      if (status === 401) this.line.value = { kind: 'stranger' }
    } catch {
      // Nobody answers.
      if (this.line.value.kind === 'stranger') this.line.value = { kind: 'off', since: Date.now() }
    }
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms)
      this.#wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }
}
