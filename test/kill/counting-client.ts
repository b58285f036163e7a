/** A raw client that keeps nothing of what it is told, but counts: every word must be the one after the last. */
import { RawSocket, connected } from '../e2e/raw-socket.ts'
import { type Message, textOf, updateIn } from '../e2e/message.ts'

export class CountingClient extends RawSocket {
  /** The last word that it was told. */
  words = 0
  /** The last cursor. */
  cursor = 0
  /** Words or cursors that came out of their turn. */
  readonly misplaced: string[] = []

  static override async open(path: string): Promise<CountingClient> {
    const client = new CountingClient(await connected(path))
    await client.request('initialize', { protocolVersion: 1, clientCapabilities: {} })
    return client
  }

  /** Goes on where another one was. */
  takeOver({ words, cursor }: CountingClient): void {
    this.words = words
    this.cursor = cursor
  }

  /** Resolves when it is so, or the connection has ended. */
  async when(check: () => boolean): Promise<void> {
    while (!check() && !this.isEnded) await this.anything()
  }

  /** From now on it reads nothing. */
  stall(): void {
    this.socket.pause()
  }

  readOn(): void {
    this.socket.resume()
  }

  protected override heard(message: Message, line: string): void {
    // An update is counted and forgotten.
    if (message.method === undefined) super.heard(message, line)
    const seen = updateIn(message)
    if (seen?.update.sessionUpdate !== 'agent_message_chunk') return
    if (seen.seq <= this.cursor) this.misplaced.push(`seq ${seen.seq} after ${this.cursor}`)
    this.cursor = seen.seq
    for (const word of textOf(seen).trim().split(' ')) this.#count(word)
  }

  /** Each turn begins with the first word again. */
  #count(word: string): void {
    const number = Number(word.slice(1))
    if (number !== 1 && number !== this.words + 1) this.misplaced.push(`${word} after w${this.words}`)
    this.words = number
  }
}
