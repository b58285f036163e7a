/** The boundary of what an agent gets of this machine's files: the directories of its session, whatever links lead out of them. */
import { lstat, realpath } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path'
import { fail } from '../../errors/parley-error.ts'

/** The real path of what may not be there yet. Throws PATH_NOT_ABSOLUTE or PATH_OUTSIDE_ROOTS. */
export async function pathInside(path: string, roots: readonly string[]): Promise<string> {
  if (!isAbsolute(path)) fail('PATH_NOT_ABSOLUTE', { what: 'path', path })
  if (path.includes('\0')) fail('PATH_OUTSIDE_ROOTS', { path })
  const real = await realPath(resolve(path))
  for (const root of roots) if (isBelow(real, await realPath(root))) return real
  return fail('PATH_OUTSIDE_ROOTS', { path })
}

/** Links are followed as far as the path exists; what comes after that has none. */
async function realPath(path: string): Promise<string> {
  try {
    return await realpath(path)
  } catch (error) {
    const parent = dirname(path)
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT'
    if (!isMissing || parent === path || (await isLink(path))) return fail('PATH_OUTSIDE_ROOTS', { path }, error)
    return join(await realPath(parent), basename(path))
  }
}

/** A link to nothing leads to wherever somebody puts something later. */
async function isLink(path: string): Promise<boolean> {
  return lstat(path).then(
    (found) => found.isSymbolicLink(),
    () => false,
  )
}

function isBelow(path: string, root: string): boolean {
  const way = relative(root, path)
  return way === '' || (way.split('/')[0] !== '..' && !isAbsolute(way))
}
