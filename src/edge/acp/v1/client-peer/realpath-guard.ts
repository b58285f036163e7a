/** Whether a path that a client is to be asked for really lies inside the directories of the turn, as far as this disk can tell. */
import { lstat, realpath } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join, relative } from 'node:path'
import { fail } from '../../../../errors/parley-error.ts'
import type { PathAccessFilter } from '../../../../ports/bars.ts'

/**
 * Throws PATH_OUTSIDE_ROOTS where a link leads out of them, or may. By its words `path` is inside already; one that only
 * another system understands is of another disk, which its client guards.
 */
export async function requireReallyInside(path: string, roots: readonly string[]): Promise<void> {
  await realInside(path, roots)
}

/** Throws PATH_NOT_ALLOWED as well, where a link leads to what rules keep from this call. */
export async function requireAllowed(path: string, roots: readonly string[], bars: PathAccessFilter): Promise<void> {
  const real = await realInside(path, roots)
  if (real !== undefined && bars(real) !== undefined) fail('PATH_NOT_ALLOWED', { path })
}

/** Undefined for a path that only another system understands. */
async function realInside(path: string, roots: readonly string[]): Promise<string | undefined> {
  if (!isAbsolute(path)) return undefined
  const real = await realPlace(path)
  for (const root of roots) if (isBelow(real, await realPlace(root))) return real
  return fail('PATH_OUTSIDE_ROOTS', { path })
}

/** Links are followed as far as the path exists; what comes after that has none. */
async function realPlace(path: string): Promise<string> {
  try {
    return await realpath(path)
  } catch (error) {
    const parent = dirname(path)
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT'
    // Whoever cannot look does not know.
    if (!isMissing || parent === path || (await isLink(path))) return fail('PATH_OUTSIDE_ROOTS', { path }, error)
    return join(await realPlace(parent), basename(path))
  }
}

/** A link to nothing leads to wherever somebody puts something later. */
async function isLink(path: string): Promise<boolean> {
  try {
    return (await lstat(path)).isSymbolicLink()
  } catch {
    // It is not there at all.
    return false
  }
}

function isBelow(path: string, root: string): boolean {
  const way = relative(root, path)
  return way === '' || (way.split('/')[0] !== '..' && !isAbsolute(way))
}
