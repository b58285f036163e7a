/** The boundary of the files that an agent may use on this machine: the directories of its session, after links are resolved. */
import { isAbsolute } from 'node:path'
import { fail } from '../../errors/parley-error.ts'
import { realPathInside } from '../../workspace/real-path.ts'

/** The real path of what may not exist yet. Throws PATH_NOT_ABSOLUTE or PATH_OUTSIDE_ROOTS. */
export async function pathInside(path: string, roots: readonly string[]): Promise<string> {
  if (!isAbsolute(path)) fail('PATH_NOT_ABSOLUTE', { what: 'path', path })
  return realPathInside(path, roots)
}
