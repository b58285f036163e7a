/** Whether a path of a client's machine lies inside the directories of a turn. By its words only: that disk is not ours to look at. */
import { fail } from '../../errors/parley-error.ts'

/**
 * The path without `.` and `..`, so that no link can lead out of it on the way. Throws PATH_NOT_ABSOLUTE and
 * PATH_OUTSIDE_ROOTS.
 */
export function resolveWithinRoots(path: string, roots: readonly string[]): string {
  if (!isAbsolute(path) || path.includes('\0')) fail('PATH_NOT_ABSOLUTE', { what: 'The path of a file', path })
  const place = normalized(path)
  if (!roots.some((root) => isWithin(place, normalized(root)))) fail('PATH_OUTSIDE_ROOTS', { path })
  return place
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

/** Above the root of a disk there is only that root. */
function step(kept: readonly string[], part: string): readonly string[] {
  if (part === '' || part === '.') return kept
  return part === '..' ? kept.slice(0, -1) : [...kept, part]
}

function isWithin(place: string, root: string): boolean {
  const separator = root.startsWith('/') ? '/' : '\\'
  return place === root || place.startsWith(root.endsWith(separator) ? root : `${root}${separator}`)
}
