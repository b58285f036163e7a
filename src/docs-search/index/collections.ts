/** Collections: the indexed directories, each with the name that URIs, tools and keys use for it. */
import { basename, resolve } from 'node:path'

export interface Collection {
  /** Unique, and short. */
  readonly name: string
  /** As the user gave it; relative to the working directory if it is relative. */
  readonly path: string
}

/** Names each directory after its last component. A directory that is given twice is one collection. */
export function collectionsOf(paths: readonly string[]): readonly Collection[] {
  const taken = new Set<string>()
  const once = new Map(paths.map((path) => [resolve(path), path]))
  return [...once.values()].map((path) => {
    const own = basename(resolve(path)) || 'root'
    let name = own
    for (let n = 2; taken.has(name); n++) name = `${own}-${n}`
    taken.add(name)
    return { name, path }
  })
}
