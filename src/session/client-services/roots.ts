/** Checks that a path on a client's machine lies inside the directories of a turn. It reads the text of the path only: the disk belongs to the client. */
import { fail } from '../../errors/parley-error.ts'

/**
 * Returns the path without `.` and `..`, because `link/..` may lead elsewhere on that disk. Throws PATH_NOT_ABSOLUTE and
 * PATH_OUTSIDE_ROOTS.
 */
export function resolveWithinRoots(path: string, roots: readonly string[]): string {
  if (!isAbsolute(path) || path.includes('\0')) fail('PATH_NOT_ABSOLUTE', { what: 'The path of a file', path })
  const resolved = normalized(path)
  if (!roots.some((root) => isWithin(resolved, normalized(root)))) fail('PATH_OUTSIDE_ROOTS', { path })
  return resolved
}

/** `/…`, or `C:\…` and `\\server\…` where the client runs on Windows. */
function isAbsolute(path: string): boolean {
  return path.startsWith('/') || /^(?:[A-Za-z]:[\\/]|\\\\)/u.test(path)
}

function normalized(path: string): string {
  const isWindows = !path.startsWith('/')
  const [first = '', ...rest] = path.split(isWindows ? /[\\/]/u : '/')
  const kept = rest.reduce<readonly string[]>(step, [])
  return [first, ...kept].join(isWindows ? '\\' : '/') || '/'
}

/** `..` at the root of a disk stays there. */
function step(kept: readonly string[], part: string): readonly string[] {
  if (part === '' || part === '.') return kept
  return part === '..' ? kept.slice(0, -1) : [...kept, part]
}

function isWithin(path: string, root: string): boolean {
  const separator = root.startsWith('/') ? '/' : '\\'
  return path === root || path.startsWith(root.endsWith(separator) ? root : `${root}${separator}`)
}
