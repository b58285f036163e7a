/** Collections: the served directories, each under a name that uris, tools and keys know it by. */
import { opendir } from 'node:fs/promises'
import { basename, resolve } from 'node:path'
import { fail } from '../../errors/parley-error.ts'

export interface Collection {
  /** Unique, and short. */
  readonly name: string
  /** As the user named it; resolved against the working directory. */
  readonly path: string
}

/** Names each directory after itself; the same one given twice is served once. */
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

/** Those that were added later yield their name to those given at the start. */
export function merged(given: readonly Collection[], added: readonly Collection[]): readonly Collection[] {
  const names = new Set(given.map(({ name }) => name))
  return [...given, ...added.filter(({ name }) => !names.has(name))]
}

/** Throws DIRECTORY_MISSING. */
export async function checkDirectories(directories: readonly string[]): Promise<void> {
  const what = 'A directory to serve,'
  for (const path of directories) {
    const directory = await opendir(path).catch((error: unknown) => fail('DIRECTORY_MISSING', { what, path }, error))
    await directory.close()
  }
}
