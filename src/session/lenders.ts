/** Which client lends its files, its terminals and its person to the turn of which prompt: the one whose prompt it is. */
import type { LentClient } from '../ports/client.ts'
import type { Feed } from './feed.ts'

/**
 * A prompt has the client that sent it for as long as that is connected, then whoever adopted it or sent it again since.
 * Nobody else is ever asked, whoever is attached.
 */
export class Lenders {
  readonly #clients = new WeakMap<Feed, LentClient>()
  readonly #prompts = new Map<string, readonly LentClient[]>()

  joined(feed: Feed, client: LentClient): void {
    this.#clients.set(feed, client)
  }

  /** From now on this reader waits for the end of the prompt. */
  lend(promptId: string, feed: Feed): void {
    const client = this.#clients.get(feed)
    const former = this.#prompts.get(promptId) ?? []
    if (client !== undefined && !former.includes(client)) this.#prompts.set(promptId, [...former, client])
  }

  of(promptId: string): LentClient | undefined {
    return this.#prompts.get(promptId)?.find(({ gone }) => !gone.aborted)
  }

  ended(promptId: string): void {
    this.#prompts.delete(promptId)
  }
}
