/** The part of a client's connection that concerns no session, as a connection of its own. */
import type { Received, Transport } from '../../../edge/transport/transport.ts'

export class MainTransport implements Transport {
  readonly #client: Transport
  #arrived: Received[] = []
  #hasEnded = false
  #wake: () => void = () => undefined

  constructor(client: Transport) {
    this.#client = client
  }

  /** Who serves it takes messages as they come. */
  push(received: Received): void {
    this.#arrived.push(received)
    this.#wake()
  }

  end(): void {
    this.#hasEnded = true
    this.#wake()
  }

  get messages(): AsyncIterable<readonly Received[]> {
    return this.#messages()
  }

  send(messages: readonly string[]): void {
    this.#client.send(messages)
  }

  initialized(): void {
    this.#client.initialized?.()
  }

  isBackpressured(): boolean {
    return this.#client.isBackpressured()
  }

  drained(): Promise<void> {
    return this.#client.drained()
  }

  close(): Promise<void> {
    return this.#client.close()
  }

  destroy(): void {
    this.#client.destroy()
  }

  async *#messages(): AsyncGenerator<readonly Received[]> {
    for (;;) {
      if (this.#arrived.length > 0) yield this.#arrived.splice(0)
      else if (this.#hasEnded) return
      else await new Promise<void>((resolve) => (this.#wake = resolve))
    }
  }
}
