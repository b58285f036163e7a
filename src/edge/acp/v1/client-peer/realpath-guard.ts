/** Whether a path that a client is to be asked for really lies inside the directories of the turn, as far as this disk can tell. */
import { isAbsolute } from 'node:path'
import { fail } from '../../../../errors/parley-error.ts'
import type { PathAccessFilter } from '../../../../ports/bars.ts'
import { realPathInside } from '../../../../workspace/real-path.ts'

/**
 * Throws PATH_OUTSIDE_ROOTS where a link leads out of them, or may. By its words `path` is inside already; one that only
 * another system understands is of another disk, which its client guards.
 */
export async function requireReallyInside(path: string, roots: readonly string[]): Promise<void> {
  if (isAbsolute(path)) await realPathInside(path, roots)
}

/** Throws PATH_NOT_ALLOWED as well, where a link leads to what rules keep from this call. */
export async function requireAllowed(path: string, roots: readonly string[], bars: PathAccessFilter): Promise<void> {
  if (isAbsolute(path) && bars(await realPathInside(path, roots)) !== undefined) fail('PATH_NOT_ALLOWED', { path })
}
