/** A collection as the indexer knows it: whether its directory exists, its documents, and its file watch. */
import { resolve, sep } from 'node:path'
import type { Collection } from '../collections.ts'
import { type FoundRoot, collectionRootOf, type Walk } from './walk.ts'
import type { DirectoryWatch, Watch, WatchEvents } from './watch.ts'
import { realpath } from 'node:fs/promises'

export class WatchedCollection {
  readonly collection: Collection
  /** Its number in the index. */
  readonly id: number
  readonly directory: string
  #root: FoundRoot | null = null
  #watch: DirectoryWatch | null = null
  /** The directories in it as the last look found them, and as they were when watching began. */
  #inside: ReadonlySet<string> = new Set()
  #watched: ReadonlySet<string> = new Set()

  constructor(collection: Collection, id: number) {
    this.collection = collection
    this.id = id
    this.directory = resolve(collection.path)
  }

  get present(): boolean {
    return this.#root !== null
  }

  /** Without links; null while it is not there. */
  get real(): string | null {
    return this.#root?.path ?? null
  }

  /** Checks whether the directory exists, before anything in it is read. */
  async find(): Promise<void> {
    this.#root = await collectionRootOf(this.directory)
  }

  /** Takes what a look found; null when there is nothing to look at. Says whether it came, went, or is another one now. */
  apply(found: Walk | null): boolean {
    const before = this.#root?.identity
    this.#root = found === null ? null : { path: found.real, identity: found.identity }
    this.#inside = found?.directories ?? new Set()
    return before !== this.#root?.identity
  }

  /** The system's watch does not see into what lies in a new directory; only a watch begun afresh does. */
  get hasUnwatchedDirectories(): boolean {
    return [...this.#inside].some((directory) => !this.#watched.has(directory))
  }

  /** Whether the directory was created, removed or replaced since the last scan, or is not watched. */
  async needsScan(): Promise<boolean> {
    const root = await collectionRootOf(this.directory)
    return root?.identity !== this.#root?.identity || (root !== null && this.#watch === null)
  }

  /** Whether the system reports every change in the directory. */
  get isFullyWatched(): boolean {
    return this.#watch?.isComplete === true
  }

  async rewatch(watch: Watch, events: WatchEvents): Promise<void> {
    this.#watched = this.#inside
    await this.unwatch()
    if (this.present) this.#watch = await watch(this.directory, events)
  }

  async unwatch(): Promise<void> {
    const watching = this.#watch
    this.#watch = null
    await watching?.close()
  }
}

/** For each directory, the real paths of the other collections inside it. */
export async function othersWithin(directories: readonly string[]): Promise<readonly (readonly string[])[]> {
  const roots = await Promise.all(directories.map(realPrefixOf))
  return roots.map((root, at) =>
    roots.flatMap((other, index) => {
      if (root === undefined || other === undefined || index === at || !other.startsWith(root)) return []
      // Of two names for one directory the first has the documents.
      return other === root && index > at ? [] : [other]
    }),
  )
}

/** Undefined while the directory is missing. */
async function realPrefixOf(directory: string): Promise<string | undefined> {
  const path = await realpath(directory).catch(() => undefined)
  return path === undefined || path.endsWith(sep) ? path : `${path}${sep}`
}
