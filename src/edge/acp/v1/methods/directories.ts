/** Checks the directories that a request names, before anything else is done with it. */
import { stat } from 'node:fs/promises'
import { isAbsolute } from 'node:path'
import { fail } from '../../../../errors/parley-error.ts'

interface Named {
  readonly cwd: string
  readonly additionalDirectories: readonly string[]
}

/** Throws PATH_NOT_ABSOLUTE or DIRECTORY_MISSING; none is ever dropped in silence. */
export async function requireDirectories({ cwd, additionalDirectories }: Named): Promise<void> {
  requireAbsolute({ cwd, additionalDirectories })
  if (!(await isDirectory(cwd))) fail('DIRECTORY_MISSING', { what: 'cwd', path: cwd })
  await requireAdditional(additionalDirectories)
}

/** As above, but a session whose cwd is gone still opens: false says that it is. */
export async function requireDirectoriesOfStored({ cwd, additionalDirectories }: Named): Promise<boolean> {
  requireAbsolute({ cwd, additionalDirectories })
  await requireAdditional(additionalDirectories)
  return isDirectory(cwd)
}

export function requireAbsolutePath(what: string, path: string): void {
  if (!isAbsolute(path)) fail('PATH_NOT_ABSOLUTE', { what, path })
}

function requireAbsolute({ cwd, additionalDirectories }: Named): void {
  requireAbsolutePath('cwd', cwd)
  for (const [index, path] of additionalDirectories.entries())
    requireAbsolutePath(`additionalDirectories[${index}]`, path)
}

async function requireAdditional(directories: readonly string[]): Promise<void> {
  for (const [index, path] of directories.entries()) {
    if (!(await isDirectory(path))) fail('DIRECTORY_MISSING', { what: `additionalDirectories[${index}]`, path })
  }
}

async function isDirectory(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory()
  } catch {
    // Whatever keeps us from looking also keeps tools from working there.
    return false
  }
}
