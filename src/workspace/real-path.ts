/** The real path of a place that another program opens: it must lie inside given directories, wherever links lead. */
import { lstat, realpath } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { isWithin } from '../path-rules/path-rules.ts'
import { fail } from '../errors/parley-error.ts'

/** The path is absolute and may not exist yet. Throws PATH_OUTSIDE_ROOTS. */
export async function realPathInside(path: string, directories: readonly string[]): Promise<string> {
  if (path.includes('\0')) fail('PATH_OUTSIDE_ROOTS', { path })
  const real = await realPathOf(resolve(path))
  for (const directory of directories) if (isWithin(real, await realPathOf(directory))) return real
  return fail('PATH_OUTSIDE_ROOTS', { path })
}

/** Links are followed as far as the path exists; the rest has none. */
async function realPathOf(path: string): Promise<string> {
  try {
    return await realpath(path)
  } catch (error) {
    const parent = dirname(path)
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT'
    // A place that cannot be examined may be a link to anywhere.
    if (!isMissing || parent === path || (await isLink(path))) return fail('PATH_OUTSIDE_ROOTS', { path }, error)
    return join(await realPathOf(parent), basename(path))
  }
}

/** A link to nothing leads to whatever is created there later. */
async function isLink(path: string): Promise<boolean> {
  return lstat(path).then(
    (found) => found.isSymbolicLink(),
    () => false,
  )
}
