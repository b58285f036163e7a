/** Worker threads are started in one place, and what a thread runs on its start runs nowhere else. */
import type { Import } from './imports.ts'
import { place, type Offence, type Parsed } from './source.ts'

const HOME = 'src/threads/'

export function threadsElsewhere(files: readonly Parsed[]): readonly Offence[] {
  return files
    .filter(({ path }) => !path.startsWith(HOME))
    .flatMap((file) => {
      const at = importOf(file, 'Worker')
      return at === undefined ? [] : [`${place(file, at)} starts a thread of its own; use src/threads/worker-thread.ts`]
    })
}

/** The entry of a thread listens as soon as it is loaded, so that another thread which imports it would answer in its place. */
export function importedEntries(files: readonly Parsed[], imports: readonly Import[]): readonly Offence[] {
  const entries = new Set(files.filter((file) => importOf(file, 'parentPort') !== undefined).map(({ path }) => path))
  return imports
    .filter(({ target }) => target.kind === 'file' && entries.has(target.path))
    .map(
      (one) =>
        `${one.at} imports ${one.specifier}, which is the entry of a thread; move what both need to a file of its own`,
    )
}

/** Where a file imports this value of Node's module for threads. */
function importOf({ program }: Parsed, name: string): number | undefined {
  for (const statement of program.body) {
    if (statement.type !== 'ImportDeclaration' || statement.importKind === 'type') continue
    if (statement.source.value !== 'node:worker_threads') continue
    const isNamed = statement.specifiers.some(
      (one) =>
        one.type === 'ImportSpecifier' &&
        one.importKind !== 'type' &&
        one.imported.type === 'Identifier' &&
        one.imported.name === name,
    )
    if (isNamed) return statement.start
  }
  return undefined
}
