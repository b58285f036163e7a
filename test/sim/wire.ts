/** A socket of the simulation: each side's bytes arrive when the simulation says so, or never. */
import type { Received, Transport } from '../../src/edge/transport/transport.ts'

/** Characters owed to a client before it counts as congested. */
export const CONGESTED = 4_096

export class SimWire implements Transport {
  /** Sent by the server, not yet read by the client. */
  #down: string[] = []
  #owed = 0
  /** Sent by the client, not yet there. */
  #up: string[] = []
  #arrived: Received[] = []
  #wakeReader: () => void = () => undefined
  #waitingForRoom: (() => void)[] = []
  #isEnded = false
  #isBroken = false
  /** The most that was ever owed to the client. */
  mostOwed = 0
  /** Told of all that the server writes, in the moment that it does. */
  onSend: (lines: string) => void = () => undefined

  /** Neither side can tell the other anything any more; what was on its way is lost. */
  get isBroken(): boolean {
    return this.#isBroken
  }

  get isClosed(): boolean {
    return this.#isBroken || this.#isEnded
  }

  get messages(): AsyncIterable<readonly Received[]> {
    return this.#read()
  }

  send(messages: readonly string[]): void {
    if (this.#isBroken) return
    const lines = `${messages.join('\n')}\n`
    this.onSend(lines)
    this.#down.push(lines)
    this.#owed += lines.length
    this.mostOwed = Math.max(this.mostOwed, this.#owed)
  }

  isBackpressured(): boolean {
    return !this.#isBroken && this.#owed > CONGESTED
  }

  async drained(): Promise<void> {
    while (!this.#isBroken && this.#owed > 0) await new Promise<void>((resolve) => this.#waitingForRoom.push(resolve))
  }

  async close(): Promise<void> {
    this.#isEnded = true
    this.#wakeReader()
  }

  /** The server cuts it off. */
  destroy(): void {
    this.break()
  }

  /** The client's side writes. */
  write(line: string): void {
    if (!this.isClosed) this.#up.push(line)
  }

  /** What the client wrote arrives. */
  deliverUp(): void {
    if (this.#up.length === 0) return
    this.#arrived.push(...this.#up.splice(0))
    this.#wakeReader()
  }

  /** The client reads up to so many writes of the server. */
  read(writes: number): string {
    const lines = this.#down.splice(0, writes).join('')
    this.#owed -= lines.length
    if (this.#owed === 0) for (const resume of this.#waitingForRoom.splice(0)) resume()
    return lines
  }

  /** The client closes its side in order: what it wrote arrives. */
  end(): void {
    this.deliverUp()
    this.#isEnded = true
    this.#wakeReader()
  }

  break(): void {
    this.#isBroken = true
    this.#up = []
    this.#down = []
    this.#owed = 0
    this.#wakeReader()
    for (const resume of this.#waitingForRoom.splice(0)) resume()
  }

  async *#read(): AsyncGenerator<readonly Received[]> {
    while (true) {
      if (this.#arrived.length > 0) yield this.#arrived.splice(0)
      else if (this.isClosed) return
      else
        await new Promise<void>((resolve) => {
          this.#wakeReader = resolve
        })
    }
  }
}
