/** Which client lends its files, its terminals and its person to the turn of which prompt: the one whose prompt it is. */
import type { ClientPeer } from '../../ports/client.ts'
import type { State } from '../domain/state.ts'

/** What a person is asked by. */
export type AskingMode = 'form' | 'url'

/**
 * A prompt has the client that sent it for as long as that is connected, then whoever adopted it or sent it again since.
 * Nobody else is ever asked, whoever is attached, but for one thing: what a paused call wants can wait, and when the client
 * of its prompt has gone, any other that is attached may give it. All who reach a server are one person, its owner.
 */
export class ClientProviders {
  readonly #clients = new Map<object, ClientPeer>()
  readonly #prompts = new Map<string, readonly ClientPeer[]>()
  readonly #onJoined = new Set<() => void>()

  joined(subscription: object, client: ClientPeer): void {
    this.#clients.set(subscription, client)
    this.#tell()
  }

  left(subscription: object): void {
    this.#clients.delete(subscription)
  }

  /** From now on this reader waits for the end of the prompt. */
  lend(promptId: string, subscription: object): void {
    const client = this.#clients.get(subscription)
    const former = this.#prompts.get(promptId) ?? []
    if (client === undefined || former.includes(client)) return
    this.#prompts.set(promptId, [...former, client])
    this.#tell()
  }

  of(promptId: string): ClientPeer | undefined {
    return this.#prompts.get(promptId)?.find(isHere)
  }

  /** Who can be asked so for a paused call: the client of the prompt before all others. */
  askable(promptId: string, mode: AskingMode): ClientPeer | undefined {
    const known = [...(this.#prompts.get(promptId) ?? []), ...this.#clients.values()]
    return known.find((client) => isHere(client) && client[mode] !== undefined)
  }

  /** A call of a suspended turn need not wait any longer for somebody to come. A question of permission goes first. */
  canGoOn(state: State): boolean {
    if (state.phase !== 'suspended' || state.question !== null) return false
    const { promptId, inputRequired } = state.turn
    return Object.values(inputRequired).some(({ input }) => {
      const [first] = Object.values(input.questions)
      return first === undefined || this.askable(promptId, first.mode) !== undefined
    })
  }

  /** Calls `listener` when somebody has come who may be asked; returns how to stop that. */
  whenJoined(listener: () => void): () => void {
    this.#onJoined.add(listener)
    return () => this.#onJoined.delete(listener)
  }

  ended(promptId: string): void {
    this.#prompts.delete(promptId)
  }

  #tell(): void {
    for (const listener of this.#onJoined) listener()
  }
}

function isHere({ gone }: ClientPeer): boolean {
  return !gone.aborted
}
