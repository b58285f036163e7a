/** The models of this user with the keys that clients have lent: in memory alone, and the same for clients that lend the same. */
import type { ClientVariables } from '../../ports/agent.ts'
import type { Models } from '../../ports/model.ts'

interface Closable extends Models {
  close(): Promise<void>
}

/** Shells with other keys that are remembered; one that has been forgotten is opened anew when a session asks with it. */
const MOST = 16

export class LentModels {
  readonly #open: (lent: ClientVariables) => Closable
  readonly #environment: Readonly<Record<string, string | undefined>>
  /** The one asked for last stands last. */
  readonly #models = new Map<string, Closable>()

  constructor(open: (lent: ClientVariables) => Closable, environment: Readonly<Record<string, string | undefined>>) {
    this.#open = open
    this.#environment = environment
  }

  /** Undefined where the server has all of it itself. */
  with(lent: ClientVariables): Models | undefined {
    const all = Object.entries(lent).toSorted(([one], [other]) => (one < other ? -1 : 1))
    if (all.every(([name, value]) => this.#environment[name] === value)) return undefined
    const key = JSON.stringify(all)
    const models = this.#models.get(key) ?? this.#open(lent)
    this.#models.delete(key)
    this.#models.set(key, models)
    const [oldest] = this.#models.keys()
    if (this.#models.size > MOST && oldest !== undefined) this.#models.delete(oldest)
    return models
  }

  async close(): Promise<void> {
    await Promise.all([...this.#models.values()].map((one) => one.close()))
    this.#models.clear()
  }
}
