/** The served collections with their index. It notifies listeners of changes. */
import type { Collection } from '../index/collections.ts'
import { IndexClient } from '../index/worker/index-client.ts'
import type { Changes, DocumentIndex, IndexLimits, IndexOptions } from '../index/worker/protocol.ts'

export type Change =
  /** Other collections are there than before. */
  | { readonly kind: 'collections' }
  /** Documents came or went. */
  | { readonly kind: 'resources' }
  /** The content of these is another now. */
  | { readonly kind: 'updated'; readonly uris: readonly string[] }

export interface CollectionSetOptions {
  readonly collections: readonly Collection[]
  readonly workerUrl: URL
  readonly limits: IndexLimits
  readonly poll: boolean
  readonly code: boolean
  readonly file?: string
  readonly extract?: NonNullable<IndexOptions['extract']>
  readonly log: (line: string) => void
}

/** Many new documents at once cause one notification, or one a second. */
const LIST_NEWS_MS = 1_000

export class CollectionSet implements AsyncDisposable {
  readonly #index: IndexClient
  readonly #listeners = new Set<(change: Change) => void>()
  #collections: readonly Collection[]
  #present: ReadonlySet<string>
  #listNews: NodeJS.Timeout | undefined

  constructor({ log, workerUrl, ...options }: CollectionSetOptions) {
    this.#collections = options.collections
    // Until the index has looked: they were there when they were named.
    this.#present = new Set(options.collections.map(({ name }) => name))
    this.#index = new IndexClient(workerUrl, options, {
      log,
      present: (names) => this.#setPresent(names),
      changed: (changes) => this.#changed(changes),
    })
  }

  get index(): DocumentIndex {
    return this.#index
  }

  get names(): readonly string[] {
    return this.#collections.map(({ name }) => name)
  }

  get present(): readonly string[] {
    return this.names.filter((name) => this.#present.has(name))
  }

  /** Serves these from now on. */
  setCollections(collections: readonly Collection[]): void {
    if (JSON.stringify(collections) === JSON.stringify(this.#collections)) return
    this.#collections = collections
    this.#index.setCollections(collections)
    this.#emit({ kind: 'collections' })
  }

  /** Returns how to stop listening. */
  listen(listener: (change: Change) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  #setPresent(names: readonly string[]): void {
    const before = this.present.join('\n')
    this.#present = new Set(names)
    if (this.present.join('\n') === before) return
    this.#emit({ kind: 'collections' })
    this.#listChangedSoon()
  }

  #changed({ updated, listChanged }: Changes): void {
    if (updated.length > 0) this.#emit({ kind: 'updated', uris: updated })
    if (listChanged) this.#listChangedSoon()
  }

  #listChangedSoon(): void {
    this.#listNews ??= setTimeout(() => {
      this.#listNews = undefined
      this.#emit({ kind: 'resources' })
    }, LIST_NEWS_MS).unref()
  }

  #emit(change: Change): void {
    for (const listener of this.#listeners) listener(change)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearTimeout(this.#listNews)
    this.#listeners.clear()
    await this.#index[Symbol.asyncDispose]()
  }
}
