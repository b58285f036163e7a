/** Where clients without the role admin may name directories: in and below the setting `remote_roots`. */
import { realpath } from 'node:fs/promises'
import { isAbsolute } from 'node:path'
import { isBelow } from '../../credentials/scope.ts'

/** By its real path, so that no link and no `..` leads elsewhere. */
export async function isBelowRoots(path: string, roots: readonly string[]): Promise<boolean> {
  if (roots.length === 0 || !isAbsolute(path)) return false
  const [real, ...reals] = await Promise.all([path, ...roots].map((one) => realpath(one).catch(() => undefined)))
  return real !== undefined && reals.some((root) => root !== undefined && isBelow(real, root))
}
