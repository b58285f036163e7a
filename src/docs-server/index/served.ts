/** A collection as the indexer knows it: whether its directory is there, what lies in it, and who watches it. */
import { resolve } from 'node:path'
import type { Collection } from '../collections.ts'
import { identityOf, type Walk } from './walk.ts'
import { type Watch, watch } from './watch.ts'

export class Served {
  readonly collection: Collection
  /** Its number in the index. */
  readonly id: number
  readonly directory: string
  #identity: string | null = null
  #watch: Watch | null = null
  /** The directories in it as the last look found them, and as they were when watching began. */
  #inside: ReadonlySet<string> = new Set()
  #watched: ReadonlySet<string> = new Set()

  constructor(collection: Collection, id: number) {
    this.collection = collection
    this.id = id
    this.directory = resolve(collection.path)
  }

  get present(): boolean {
    return this.#identity !== null
  }

  /** Sees whether the directory is there, before anything in it is looked at. */
  async find(): Promise<void> {
    this.#identity = await identityOf(this.directory)
  }

  /** Takes what a look found; null when there is nothing to look at. Says whether it came, went, or is another one now. */
  take(found: Walk | null): boolean {
    const before = this.#identity
    this.#identity = found?.identity ?? null
    this.#inside = found?.directories ?? new Set()
    return before !== this.#identity
  }

  /** The system's watch does not see into what lies in a new directory; only a watch begun afresh does. */
  get hasUnwatched(): boolean {
    return [...this.#inside].some((directory) => !this.#watched.has(directory))
  }

  /** Whether a look would find it come or gone, or nothing else tells of changes in it. */
  async needsLook(): Promise<boolean> {
    const identity = await identityOf(this.directory)
    return identity !== this.#identity || (identity !== null && this.#watch === null)
  }

  async rewatch(changed: () => void, log: (line: string) => void): Promise<void> {
    this.#watched = this.#inside
    await this.unwatch()
    if (this.present) this.#watch = await watch(this.directory, changed, log)
  }

  async unwatch(): Promise<void> {
    const watching = this.#watch
    this.#watch = null
    await watching?.close()
  }
}
