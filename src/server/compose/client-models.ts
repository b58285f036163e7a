/** The models for the API keys that clients send: in memory alone, and shared by clients that send the same keys. */
import { LruMap } from '../../async/lru.ts'
import type { ClientVariables } from '../../ports/agent.ts'
import type { Models } from '../../ports/model.ts'

interface Closable extends Models {
  close(): Promise<void>
}

/** Sets of keys whose models stay open; a set that was dropped is opened again when a session asks with it. */
const MAX_OPEN = 16

export class ClientModels {
  readonly #open: (lent: ClientVariables) => Closable
  readonly #environment: Readonly<Record<string, string | undefined>>
  readonly #models = new LruMap<string, Closable>(MAX_OPEN)

  constructor(open: (lent: ClientVariables) => Closable, environment: Readonly<Record<string, string | undefined>>) {
    this.#open = open
    this.#environment = environment
  }

  /** Undefined where the server has all of it itself. */
  with(lent: ClientVariables): Models | undefined {
    const all = Object.entries(lent).toSorted(([one], [other]) => (one < other ? -1 : 1))
    if (all.every(([name, value]) => this.#environment[name] === value)) return undefined
    const key = JSON.stringify(all)
    return this.#models.getOrMake(key, () => this.#open(lent))
  }

  async close(): Promise<void> {
    await Promise.all([...this.#models.values()].map((one) => one.close()))
    this.#models.clear()
  }
}
